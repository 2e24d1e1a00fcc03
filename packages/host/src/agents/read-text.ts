/** Reads a text file for the model: a regular file of limited size, and not a link that leads out of its folder. */
import { realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { readRegular } from '../common/regular-file.ts'

const MAX_BYTES = 256 * 1024
/** Also used for a link that leads out of its folder. */
const UNREADABLE = 'it is not readable text'

export interface TextRead {
  readonly text?: string
  /** Explains to the user why there is no text, or only part of it. Absent if the file does not exist. */
  readonly problem?: string
}

/**
 * Reads a text file; of one that is too large, only the beginning.
 * @param root folder that the file must be in; undefined for the user's own files, which may be links to anywhere
 */
export function readText(root: string | undefined, path: string): TextRead {
  let real: string
  try {
    real = realpathSync(path)
    if (!isInside(root, real)) return { problem: UNREADABLE }
  } catch {
    return {}
  }
  const read = readRegular(real, MAX_BYTES)
  if (read.kind === 'absent') return {}
  if (read.kind === 'odd') return { problem: read.why }
  if (read.text.includes('\0')) return { problem: UNREADABLE }
  const text = read.text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  return { text, ...(!read.isWhole && { problem: `only its first ${MAX_BYTES / 1024} KB are read` }) }
}

/** Prevents a link in somebody else's project from showing the model a file from elsewhere. */
function isInside(root: string | undefined, real: string): boolean {
  if (root === undefined) return true
  const way = relative(realpathSync(root), real)
  return way.split(/[\\/]/)[0] !== '..' && !isAbsolute(way)
}
