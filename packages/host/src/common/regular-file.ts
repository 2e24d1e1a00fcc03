/** Reads a file that somebody else may have created: never waits for a FIFO, never opens a device, and limits the size. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'

export type FileRead =
  | { readonly kind: 'text'; readonly text: string; readonly isWhole: boolean }
  | { readonly kind: 'absent' }
  /** `why` describes the file: "it is not a file but a FIFO". */
  | { readonly kind: 'odd'; readonly why: string }

export type BytesRead = Exclude<FileRead, { kind: 'text' }> | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly isWhole: boolean }

/** Without O_NONBLOCK, opening a FIFO waits for a writer. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Reads a regular file as text. @param most in bytes; of a larger file, only the beginning is read */
export function readRegular(path: string, most: number): FileRead {
  const read = readBytes(path, most)
  return read.kind === 'bytes' ? { kind: 'text', text: read.bytes.toString('utf8'), isWhole: read.isWhole } : read
}

/** Reads a regular file. @param most in bytes; of a larger file, only the beginning is read */
export function readBytes(path: string, most: number): BytesRead {
  let file: number | undefined
  try {
    // Opening some devices already has an effect, so check first.
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
    return { kind: 'bytes', bytes: bytes.subarray(0, Math.min(length, most)), isWhole: isWhole && after.size <= most }
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'absent' } : { kind: 'odd', why: `it can't be read: ${code}` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Names what is there instead of a regular file. Returns undefined for a regular file. */
function whatIs(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a FIFO'
  return stats.isSocket() ? 'a socket' : 'a device'
}
