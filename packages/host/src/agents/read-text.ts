/** A text of the workspace for the model: a plain file of bounded size that a link has not led out of its folder. */
import { realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { readRegular } from '../common/regular-file.ts'

const MAX_BYTES = 256 * 1024
/** Of a link that leads out of its folder too. */
const UNREADABLE = 'it is not text that can be read'

export interface TextRead {
  readonly text?: string
  /** Why there is none, or not all of it, for the person. Absent if nothing is there. */
  readonly problem?: string
}

/**
 * @param root where the file has to lie; undefined for the person's own, which may be linked from anywhere
 * @returns of a longer file the beginning
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

/** A link in somebody's project must not show the model a file from elsewhere. */
function isInside(root: string | undefined, real: string): boolean {
  if (root === undefined) return true
  const way = relative(realpathSync(root), real)
  return way.split(/[\\/]/)[0] !== '..' && !isAbsolute(way)
}
