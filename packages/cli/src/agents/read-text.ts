/** A text of the workspace for the model: a plain file of bounded size that a link has not led out of its folder. */
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'

const MOST_BYTES = 256 * 1024

/**
 * @param root where the file has to lie; undefined for the person's own, which may be linked from anywhere
 * @returns undefined where there is none, or none that may be read
 */
export function readText(root: string | undefined, path: string): string | undefined {
  try {
    const real = realpathSync(path)
    if (!statSync(real).isFile() || !isInside(root, real)) return undefined
    const text = head(real)
    return text.includes('\0') ? undefined : text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  } catch {
    return undefined
  }
}

/** A link in somebody's project must not show the model a file from elsewhere. */
function isInside(root: string | undefined, real: string): boolean {
  if (root === undefined) return true
  const way = relative(realpathSync(root), real)
  return way.split(/[\\/]/)[0] !== '..' && !isAbsolute(way)
}

function head(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MOST_BYTES)
    return bytes.subarray(0, readSync(file, bytes, 0, MOST_BYTES, 0)).toString('utf8')
  } finally {
    closeSync(file)
  }
}
