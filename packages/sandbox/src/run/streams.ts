/**
 * Reads both output streams of a command. Passes them on in whole characters, counts bytes, and keeps the head and tail in constant
 * memory.
 */
import type { Readable } from 'node:stream'
import type { Command, Completed } from '../command.ts'

export interface StreamsOptions {
  readonly onOutput?: Command['onOutput'] | undefined
  readonly onBytes?: Command['onBytes'] | undefined
  /** The maximum number of bytes to keep of each stream. */
  readonly output: number
  /** The number of bytes in both streams together after which `onFlood` is called, once. */
  readonly outputStop: number
  readonly onFlood: () => void
}

/** Reads the streams. `ended` resolves when both have ended for any reason. Nothing is read after `close`. */
export function readStreams(stdout: Readable, stderr: Readable, options: StreamsOptions) {
  const { output, outputStop, onFlood } = options
  let total = 0

  const read = (stream: Readable, name: 'stdout' | 'stderr') => {
    const kept = createKept(output)
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const onOutput = unlessItThrows(options.onOutput)
    const onBytes = unlessItThrows(options.onBytes)
    stream.on('data', (chunk: Buffer) => {
      const isFlooded = total > outputStop
      total += chunk.length
      kept.push(chunk)
      if (isFlooded) return
      onBytes(chunk, name)
      onOutput(decoder.decode(chunk, { stream: true }), name)
      if (total > outputStop) onFlood()
    })
    const ended = new Promise<void>((resolve) => {
      // A broken pipe counts as ended; the exit code tells how the command ended.
      for (const event of ['error', 'close', 'end']) stream.once(event, () => resolve())
    }).then(() => onOutput(decoder.decode(), name))
    return { kept, ended }
  }

  const [out, err] = [read(stdout, 'stdout'), read(stderr, 'stderr')]
  return {
    output: (): Pick<Completed, 'stdout' | 'stderr' | 'droppedBytes'> => ({
      stdout: out.kept.text(),
      stderr: err.kept.text(),
      droppedBytes: out.kept.dropped() + err.kept.dropped(),
    }),
    ended: Promise.all([out.ended, err.ended]),
    close: () => {
      stdout.destroy()
      stderr.destroy()
    },
  }
}

type Listener<T> = (output: T, stream: 'stdout' | 'stderr') => void

/**
 * Wraps a listener so that an error in it does not end the command. After an error it is not called again. Empty input is not
 * passed on.
 */
function unlessItThrows<T extends { readonly length: number }>(listener: Listener<T> | undefined): Listener<T> {
  let current = listener
  return (output, stream) => {
    try {
      if (output.length > 0) current?.(output, stream)
    } catch {
      current = undefined
    }
  }
}

/** Keeps the head and tail of what is pushed. @param limit bytes to keep, half of them from the beginning */
export function createKept(limit: number) {
  const headLimit = Math.ceil(limit / 2)
  const head = createTail(headLimit)
  const tail = createTail(limit - headLimit)
  let total = 0

  const parts = (): { readonly first: Uint8Array; readonly last: Uint8Array; readonly dropped: number } => {
    const [first, last] = [head.bytes(), tail.bytes()]
    if (first.length + last.length === total) return { first: Buffer.concat([first, last]), last: new Uint8Array(), dropped: 0 }
    const [wholeFirst, wholeLast] = [first.subarray(0, wholeUpTo(first)), last.subarray(wholeFrom(last))]
    return { first: wholeFirst, last: wholeLast, dropped: total - wholeFirst.length - wholeLast.length }
  }
  return {
    push: (bytes: Uint8Array): void => {
      const room = Math.max(0, headLimit - total)
      total += bytes.length
      head.push(bytes.subarray(0, room))
      tail.push(bytes.subarray(room))
    },
    text: (): string => {
      const { first, last, dropped } = parts()
      return dropped === 0 ? decode(first) : `${decode(first)}\n[… ${dropped} bytes left out …]\n${decode(last)}`
    },
    /** The number of bytes received that are not in the text. */
    dropped: (): number => parts().dropped,
  }
}

/** Decodes UTF-8, showing invalid bytes as U+FFFD. */
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** How many chunks to hold before they are copied together. */
const PIECES = 64

/** Keeps the last `size` bytes pushed. */
function createTail(size: number) {
  let pieces: Uint8Array[] = []
  let length = 0
  const bytes = (): Uint8Array => {
    const all = Buffer.concat(pieces)
    const last = all.subarray(Math.max(0, all.length - size))
    pieces = [last]
    length = last.length
    return last
  }
  return {
    bytes,
    push: (piece: Uint8Array): void => {
      if (size === 0 || piece.length === 0) return
      pieces.push(piece)
      length += piece.length
      for (let first = pieces[0]; first && length - first.length >= size; first = pieces[0]) length -= pieces.shift()?.length ?? 0
      if (pieces.length > PIECES) bytes()
    },
  }
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80
const widthOf = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1)

/** Returns the length of the longest prefix that does not end within a character. */
export function wholeUpTo(bytes: Uint8Array): number {
  const end = bytes.subarray(-4)
  const lead = end.findLastIndex((byte) => !isContinuation(byte))
  const width = end.length - lead
  return lead !== -1 && widthOf(end[lead] as number) > width ? bytes.length - width : bytes.length
}

/** Returns where the first whole character begins. */
export function wholeFrom(bytes: Uint8Array): number {
  const start = bytes.subarray(0, 3)
  const at = start.findIndex((byte) => !isContinuation(byte))
  return at === -1 ? start.length : at
}
