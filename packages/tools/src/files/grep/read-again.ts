/**
 * The lines of a page, read again through the door of the workspace. ripgrep opens what it finds by its path, so a folder that is swapped
 * for a link while it walks leads it out: what it printed is shown only where a file inside holds the same at the same place.
 */
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { atOnce } from '../../at-once.ts'
import { openInside } from '../../workspace/contain.ts'
import { OUTPUT_PREFIX } from '../../workspace/paths.ts'
import { decode, sniff } from '../common/encoding.ts'
import type { SearchRoot } from '../common/search-root.ts'
import { type FoundInFile, type HeldInFile, type HeldLine, shownLine } from './matches.ts'

/** ripgrep counts from behind the byte order mark. */
const BOM_BYTES = 3
/** Read at once: most files have all their lines in it. */
const WINDOW_BYTES = 32 * 1024

export interface ReadAgain {
  readonly files: readonly FoundInFile[]
  /** Files that hold something else by now, or lie outside. */
  readonly changed: readonly string[]
}

/** @param chars of a line that are shown */
export async function readAgain({ at }: SearchRoot, held: readonly HeldInFile[], chars: number): Promise<ReadAgain> {
  const same = new Set<string>()
  await atOnce(held, async ({ path, lines }) => {
    const absolute = join(at.root, path.slice(at.output ? OUTPUT_PREFIX.length : 0))
    if (await holds(at.root, absolute, lines, chars).catch(() => false)) same.add(path)
  })
  const [kept, left] = [held.filter(({ path }) => same.has(path)), held.filter(({ path }) => !same.has(path))]
  return { files: kept.map(withoutPlace), changed: left.map(({ path }) => path) }
}

export const withoutPlace = ({ path, lines }: HeldInFile): FoundInFile => ({ path, lines: lines.map(({ place: _, ...line }) => line) })

async function holds(root: string, absolute: string, lines: readonly HeldLine[], chars: number): Promise<boolean> {
  const file = await openInside(root, absolute)
  try {
    const read = await reader(file)
    for (const { text, place } of lines) {
      const bytes = await read(place.offset, place.bytes)
      if (shownLine(bytes.toString('utf8'), place, chars).text !== text) return false
    }
    return true
  } finally {
    await file.close()
  }
}

/** Bytes as ripgrep counts them: of the text in UTF-8. */
async function reader(file: FileHandle): Promise<(offset: number, length: number) => Promise<Buffer>> {
  const read = windowed(file)
  const sniffed = sniff(await read(0, BOM_BYTES))
  const encoding = sniffed.kind === 'text' ? sniffed.encoding : 'utf-8'
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const whole = Buffer.from(decode(await file.readFile(), encoding) ?? '')
    return async (offset, length) => whole.subarray(offset, offset + length)
  }
  const skipped = encoding === 'utf-8-bom' ? BOM_BYTES : 0
  return (offset, length) => read(offset + skipped, length)
}

function windowed(file: FileHandle): (offset: number, length: number) => Promise<Buffer> {
  let at = 0
  let window = Buffer.alloc(0)
  return async (offset, length) => {
    if (offset < at || offset + length > at + window.length) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(Math.max(length, WINDOW_BYTES)), 0, undefined, offset)
      at = offset
      window = buffer.subarray(0, bytesRead)
    }
    return window.subarray(offset - at, offset - at + length)
  }
}
