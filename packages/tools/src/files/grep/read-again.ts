/**
 * Reads the lines of a page again through the workspace checks. ripgrep opens files by path, so a folder that is swapped for a link during
 * the search leads it outside. Its output is shown only if a file inside the workspace has the same text at the same place.
 */
import { closeSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openInside } from '../../workspace/contain.ts'
import { OUTPUT_PREFIX } from '../../workspace/paths.ts'
import { decode, marked } from '../common/encoding.ts'
import type { SearchRoot } from '../common/search-root.ts'
import { type FoundInFile, type HeldInFile, shownLine } from './matches.ts'

/** ripgrep counts from after the byte order mark. */
const BOM_BYTES = 3
/** Bytes read at once: most files have all their lines in them. */
const WINDOW_BYTES = 32 * 1024
/** Files to read before yielding to timers and signals. */
const FILES_A_TURN = 50

/**
 * @param chars maximum characters shown of a line
 * @returns the files, and the paths of those that have different content by now or are outside
 */
export async function readAgain({ at }: SearchRoot, held: readonly HeldInFile[], chars: number) {
  const same = new Set<string>()
  const scratch = Buffer.allocUnsafe(WINDOW_BYTES)
  for (const [count, { path, lines }] of held.entries()) {
    if (count % FILES_A_TURN === FILES_A_TURN - 1) await setImmediate()
    const absolute = join(at.root, path.slice(at.output ? OUTPUT_PREFIX.length : 0))
    if (holds(at.root, absolute, lines, chars, scratch)) same.add(path)
  }
  const changed = held.flatMap(({ path }) => (same.has(path) ? [] : [path]))
  return { files: held.filter(({ path }) => same.has(path)).map(withoutPlace), changed }
}

export const withoutPlace = ({ path, lines }: HeldInFile): FoundInFile => ({ path, lines: lines.map(({ place: _, ...line }) => line) })

function holds(root: string, absolute: string, lines: HeldInFile['lines'], chars: number, scratch: Buffer): boolean {
  try {
    const fd = openInside(root, absolute)
    try {
      const read = reader(fd, scratch)
      return lines.every(({ text, place }) => {
        const bytes = read(place.offset, place.bytes)
        return shownLine(bytes.toString('utf8'), place, chars).text === text
      })
    } finally {
      closeSync(fd)
    }
  } catch {
    // The file is gone, or is outside by now.
    return false
  }
}

/** Reads bytes at ripgrep's offsets, which count the text in UTF-8. */
function reader(fd: number, scratch: Buffer): (offset: number, length: number) => Buffer {
  const read = windowed(fd, scratch)
  const encoding = marked(read(0, BOM_BYTES))
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const whole = Buffer.from(decode(readFileSync(fd), encoding) ?? '')
    return (offset, length) => whole.subarray(offset, offset + length)
  }
  const skipped = encoding === 'utf-8-bom' ? BOM_BYTES : 0
  return (offset, length) => read(offset + skipped, length)
}

function windowed(fd: number, scratch: Buffer): (offset: number, length: number) => Buffer {
  let at = 0
  let window = scratch.subarray(0, 0)
  return (offset, length) => {
    if (offset < at || offset + length > at + window.length) {
      const buffer = length > scratch.length ? Buffer.allocUnsafe(length) : scratch
      window = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, offset))
      at = offset
    }
    return window.subarray(offset - at, offset - at + length)
  }
}
