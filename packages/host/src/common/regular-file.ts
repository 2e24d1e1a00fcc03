/** Reads a file that somebody else may have put there: never waits for a FIFO, opens no device, and stops at a size. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'

export type FileRead =
  | { readonly kind: 'text'; readonly text: string; readonly isWhole: boolean }
  | { readonly kind: 'absent' }
  /** `why` is about the file: "it is not a file but a FIFO". */
  | { readonly kind: 'odd'; readonly why: string }

/** Without this flag, opening a FIFO waits for whoever writes to it. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** @param most bytes; of a larger file its beginning */
export function readRegular(path: string, most: number): FileRead {
  let file: number | undefined
  try {
    // Opening some devices does something already.
    const before = whatIs(statSync(path))
    if (before !== undefined) return { kind: 'odd', why: `it is not a file but ${before}` }
    file = openSync(path, READ)
    const after = fstatSync(file)
    const now = whatIs(after)
    if (now !== undefined) return { kind: 'odd', why: `it is not a file but ${now}` }
    const bytes = Buffer.alloc(Math.min(after.size, most) + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got) got = readSync(file, bytes, length, bytes.length - length, length)
    const isWhole = length <= Math.min(after.size, most)
    return { kind: 'text', text: bytes.toString('utf8', 0, Math.min(length, most)), isWhole: isWhole && after.size <= most }
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'absent' } : { kind: 'odd', why: `it can't be read: ${code}` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** What is there instead of a regular file; undefined if there is one. */
function whatIs(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a FIFO'
  return stats.isSocket() ? 'a socket' : 'a device'
}
