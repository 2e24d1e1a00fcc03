/** The output of one command, out of a stream that continues the next one: up to a mark that no one else knows. Pure except for what it remembers. */

/** `RS nonce SP exit-code SP kills-for-memory RS`, as the worker prints it on both streams. */
const RS = 0x1e
const TAIL = /^ (\d{1,3}) (\d+)$/
/** Bytes of ` 255 18446744073709551615`. */
const MAX_TAIL = 24

export interface Mark {
  readonly exitCode: number
  /** Since the container was started: processes that were killed for want of memory. */
  readonly oomKills: number
}

export interface Output {
  /** What is the command's own. */
  readonly bytes: Buffer
  /** Once: what comes after it is not the command's. */
  readonly mark?: Mark
}

/** @returns a function that takes the bytes as they come; what may be the beginning of the mark is held back until it is known */
export function createUntilMark(nonce: string): (chunk: Buffer) => Output {
  const opening = Buffer.from(`\x1e${nonce}`)
  let held = Buffer.alloc(0)
  let isOver = false

  return (chunk) => {
    if (isOver) return { bytes: Buffer.alloc(0) }
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let from = 0
    for (;;) {
      const at = all.indexOf(opening, from)
      if (at === -1) break
      const start = at + opening.length
      const end = all.indexOf(RS, start)
      if (end === -1 && all.length - start <= MAX_TAIL) {
        held = Buffer.from(all.subarray(at))
        return { bytes: all.subarray(0, at) }
      }
      const tail = end === -1 ? null : TAIL.exec(all.subarray(start, end).toString('latin1'))
      if (tail) {
        isOver = true
        held = Buffer.alloc(0)
        return { bytes: all.subarray(0, at), mark: { exitCode: Number(tail[1]), oomKills: Number(tail[2]) } }
      }
      from = start
    }
    const keep = beginningAtEnd(all.subarray(from), opening)
    held = Buffer.from(all.subarray(all.length - keep))
    return { bytes: all.subarray(0, all.length - keep) }
  }
}

/** How many of the last bytes may be the first ones of the mark. */
function beginningAtEnd(bytes: Buffer, opening: Buffer): number {
  const at = bytes.lastIndexOf(RS)
  const length = at === -1 ? 0 : bytes.length - at
  return length > 0 && length < opening.length && bytes.subarray(at).equals(opening.subarray(0, length)) ? length : 0
}
