/** The way to a line deep in a large file: newlines are counted in the bytes, nothing is decoded or kept. */
import type { FileHandle } from 'node:fs/promises'

const NEWLINE = 0x0a

export interface Skipped {
  /** Lines passed over. */
  readonly lines: number
  /** Where the next one begins, in bytes. */
  readonly position: number
  /** How many bytes the file has after that; 0 when it ends with a newline. Only counted when the file was read to its end. */
  readonly rest: number
}

/** Passes over up to `count` lines of a file in UTF-8. */
export async function skipLines(handle: FileHandle, count: number, chunk: Buffer, signal: AbortSignal): Promise<Skipped> {
  let lines = 0
  let position = 0
  let read = 0
  while (lines < count) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, read)
    if (bytesRead === 0) break
    const bytes = chunk.subarray(0, bytesRead)
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && lines < count; at = bytes.indexOf(NEWLINE, at + 1)) {
      lines++
      position = read + at + 1
    }
    read += bytesRead
  }
  return { lines, position, rest: Math.max(0, read - position) }
}
