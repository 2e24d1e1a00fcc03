/** Reads the body of a response, decompressing it as it arrives and never reading more than requested. */

import { readFileSync } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { ToolFailure } from '@mulligan/core'

export interface Body {
  readonly bytes: Buffer
  /** Why the body is incomplete: the limit was reached, or the transfer broke off. */
  readonly partial?: 'limit' | 'broken'
  readonly notes: readonly string[]
}

/** Maximum nested compressions. Honest servers use one. */
const MAX_ENCODINGS = 2
/** Maximum window of a decoder for web pages: the 8 MB of RFC 9659. */
const ZSTD_WINDOW_LOG = 23

type Decoder = (first: Uint8Array) => NodeJS.ReadWriteStream

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  // The standard requires the zlib format, but some servers send raw deflate data.
  deflate: ([head = 0]) => ((head & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
}

export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

/**
 * Reads a body.
 * @throws ToolFailure for an unknown compression or damaged data; whatever the stream throws
 */
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
    throw new ToolFailure(`The page is compressed ${what}, which is not supported.`, { errorType: 'unsupported', status: 'failed' })
  }
  const source = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const first = await source.next()
  if (first.done) return { bytes: Buffer.alloc(0), notes: [] }
  const plain = Readable.from(rest(first.value, source, stream), { objectMode: false })
  if (encodings.length === 0) return collect(plain, maxBytes, [])
  const outermost = encodings.at(-1)
  if ((outermost === 'gzip' || outermost === 'x-gzip') && (first.value[0] !== 0x1f || (first.value[1] ?? 0x8b) !== 0x8b))
    return collect(plain, maxBytes, ['The server declared gzip, but the page is not compressed.'])
  const decoders = encodings.toReversed().map((one, at) => DECODERS[one]?.(at === 0 ? first.value : Buffer.of(0x78)) ?? zlib.createGunzip())
  // Errors also surface in the last stream, where they are handled.
  const decoded = pipeline([plain, ...decoders], () => undefined) as unknown as Readable
  return collect(decoded, maxBytes, [])
}

/** Stops reading a stream. */
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

/** Detects a connection closed before the announced length was sent, or damaged compression. */
function broken(error: unknown): 'closed' | 'damaged' | undefined {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'UND_ERR_SOCKET' && message === 'other side closed') return 'closed'
  return code !== undefined && /^(?:Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(code) ? 'damaged' : undefined
}

/** Identifies Mulligan to servers. */
export function userAgent(): string {
  const manifest = new URL('../../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
  return `mulligan/${version}`
}
