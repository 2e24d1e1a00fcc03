/** The body of a response: decompressed as it comes, and never more of it than was asked for. */
import { pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { ToolFailure } from '@mulligan/core'

export interface Body {
  readonly bytes: Buffer
  /** Why it is not the whole: more than is read, or it broke off. */
  readonly partial?: 'limit' | 'broken'
  readonly notes: readonly string[]
}

/** Compressions on top of each other. Honest servers use one. */
const MAX_ENCODINGS = 2
/** What a decoder of a page may take into memory: the 8 MB window of RFC 9659. */
const ZSTD_WINDOW_LOG = 23

type Decoder = (first: Uint8Array) => NodeJS.ReadWriteStream

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  // The standard says zlib; some servers send the bare data.
  deflate: ([head = 0]) => ((head & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
}

export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

/** @throws ToolFailure for a compression that is unknown or not what it says; what the stream throws */
export async function readBody(stream: Readable, contentEncoding: string, maxBytes: number): Promise<Body> {
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'identity')
  const unknown = encodings.find((one) => !Object.hasOwn(DECODERS, one))
  if (unknown !== undefined || encodings.length > MAX_ENCODINGS) {
    discard(stream)
    const what = unknown === undefined ? `${encodings.length} times` : `as ${JSON.stringify(unknown.slice(0, 40))}`
    throw new ToolFailure(`The page is compressed ${what}, which is not understood.`, { errorType: 'unsupported', status: 'failed' })
  }
  const source = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const first = await source.next()
  if (first.done) return { bytes: Buffer.alloc(0), notes: [] }
  const plain = Readable.from(rest(first.value, source, stream), { objectMode: false })
  if (encodings.length === 0) return collect(plain, maxBytes, [])
  const outermost = encodings.at(-1)
  if ((outermost === 'gzip' || outermost === 'x-gzip') && (first.value[0] !== 0x1f || (first.value[1] ?? 0x8b) !== 0x8b))
    return collect(plain, maxBytes, ['The server says gzip, but it is not compressed.'])
  const decoders = encodings.toReversed().map((one, at) => DECODERS[one]?.(at === 0 ? first.value : Buffer.of(0x78)) ?? zlib.createGunzip())
  // Errors come out of the last stream too, where they are heard.
  const decoded = pipeline([plain, ...decoders], () => undefined) as unknown as Readable
  return collect(decoded, maxBytes, [])
}

/** Reads no more of a stream. */
export const discard = (stream: Readable): void => void stream.on('error', () => undefined).destroy()

async function* rest(first: Uint8Array, source: AsyncIterator<Uint8Array>, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
  } finally {
    discard(stream)
  }
}

async function collect(stream: Readable, maxBytes: number, notes: readonly string[]): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break
    }
  } catch (error) {
    const how = broken(error)
    if (!how || (how === 'closed' && size === 0)) throw error
    if (size === 0) throw new ToolFailure('The page could not be decompressed: its data is damaged.', { cause: error })
    return { bytes: Buffer.concat(chunks), partial: 'broken', notes }
  }
  const bytes = Buffer.concat(chunks)
  return size > maxBytes ? { bytes: bytes.subarray(0, maxBytes), partial: 'limit', notes } : { bytes, notes }
}

/** A server that closed before it had sent the length it had told, or damaged compression. */
function broken(error: unknown): 'closed' | 'damaged' | undefined {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'UND_ERR_SOCKET' && message === 'other side closed') return 'closed'
  return code !== undefined && /^(?:Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(code) ? 'damaged' : undefined
}
