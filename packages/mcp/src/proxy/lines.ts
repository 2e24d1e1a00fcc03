/** Splits a stream of bytes into lines, with a limit, so that a line without an end can't use up the memory. */

/** What is kept of a line that is too long: enough to find the id of its message. */
export interface LongLine {
  readonly bytes: number
  readonly head: string
  readonly tail: string
}

export interface LineReader {
  readonly push: (chunk: Uint8Array) => void
}

const NEWLINE = 10
const KEPT = 2000

/**
 * @param max longest line, in bytes
 * @param onLine receives each line without its end; empty lines are left out
 */
export function lineReader(max: number, onLine: (line: string) => void, onLong: (line: LongLine) => void): LineReader {
  let parts: Uint8Array[] = []
  let bytes = 0
  let long: { bytes: number; head: string; tail: Uint8Array } | undefined

  function add(part: Uint8Array): void {
    if (part.length === 0) return
    bytes += part.length
    if (long) {
      long.bytes += part.length
      long.tail = Buffer.concat([long.tail, part]).subarray(-KEPT)
      return
    }
    parts.push(part)
    if (bytes <= max) return
    const whole = Buffer.concat(parts)
    long = { bytes, head: whole.toString('utf8', 0, KEPT), tail: Buffer.from(whole.subarray(-KEPT)) }
    parts = []
  }

  function end(): void {
    const ended = long
    const line =
      ended || bytes === 0 ? '' : (parts.length === 1 ? Buffer.from(parts[0] as Uint8Array) : Buffer.concat(parts)).toString('utf8')
    parts = []
    bytes = 0
    long = undefined
    if (ended) onLong({ bytes: ended.bytes, head: ended.head, tail: Buffer.from(ended.tail).toString('utf8') })
    else if (line.trim() !== '') onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }

  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at))
        end()
        from = at + 1
      }
      add(chunk.subarray(from))
    },
  }
}

/** Finds the id of a response that is too long to be parsed: JSON writes it at the beginning or at the end. */
export function idOfLongLine({ head, tail }: LongLine): string | number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,/.exec(head)?.[1] ??
    /,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail)?.[1]
  return found === undefined ? undefined : (JSON.parse(found) as string | number)
}
