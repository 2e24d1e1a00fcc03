/**
 * The lines of a page, read again through the door of the workspace. ripgrep opens what it finds by its path, so a folder that is swapped
 * for a link while it walks leads it out: what it printed is shown only where a file inside holds the same at the same place.
 */
import { closeSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openInsideSync } from '../../workspace/contain.ts'
import { OUTPUT_PREFIX } from '../../workspace/paths.ts'
import { decode, marked } from '../common/encoding.ts'
import type { SearchRoot } from '../common/search-root.ts'
import { type FoundInFile, type HeldInFile, type HeldLine, shownLine } from './matches.ts'

/** ripgrep counts from behind the byte order mark. */
const BOM_BYTES = 3
/** Read at once: most files have all their lines in it. */
const WINDOW_BYTES = 32 * 1024
/** Files that are read before timers and signals have their turn. */
const FILES_A_TURN = 50

export interface ReadAgain {
  readonly files: readonly FoundInFile[]
  /** Files that hold something else by now, or lie outside. */
  readonly changed: readonly string[]
}

/** @param chars of a line that are shown */
export async function readAgain({ at }: SearchRoot, held: readonly HeldInFile[], chars: number): Promise<ReadAgain> {
  const same = new Set<string>()
  const scratch = Buffer.allocUnsafe(WINDOW_BYTES)
  for (const [count, { path, lines }] of held.entries()) {
    if (count % FILES_A_TURN === FILES_A_TURN - 1) await setImmediate()
    const absolute = join(at.root, path.slice(at.output ? OUTPUT_PREFIX.length : 0))
    if (holds(at.root, absolute, lines, chars, scratch)) same.add(path)
  }
  const [kept, left] = [held.filter(({ path }) => same.has(path)), held.filter(({ path }) => !same.has(path))]
  return { files: kept.map(withoutPlace), changed: left.map(({ path }) => path) }
}

export const withoutPlace = ({ path, lines }: HeldInFile): FoundInFile => ({ path, lines: lines.map(({ place: _, ...line }) => line) })

function holds(root: string, absolute: string, lines: readonly HeldLine[], chars: number, scratch: Buffer): boolean {
  try {
    const fd = openInsideSync(root, absolute)
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
    // It is gone, or lies outside now.
    return false
  }
}

/** Bytes as ripgrep counts them: of the text in UTF-8. */
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
