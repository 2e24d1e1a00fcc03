import { realpathSync } from 'node:fs'
import { basename, dirname, join, posix, resolve } from 'node:path'
import { inOutput, isInside, OUTPUT_PREFIX, shown, toSlash } from './paths.ts'

/**
 * One name for a path however it is spelt: relative to `root`, links followed as far as they exist. What leads outside
 * keeps its lexical name, which is refused later and tells nothing of where a link goes.
 */
export function targetOf(path: string, root: string, hasOutputs: boolean): string {
  const output = hasOutputs ? inOutput(path) : undefined
  if (output !== undefined) return posix.normalize(`${OUTPUT_PREFIX}${output}`).replace(/\/+$/, '')
  const asked = resolve(root, path)
  const real = realOf(asked)
  if (isInside(root, real)) return shown(root, real)
  return isInside(root, asked) ? shown(root, asked) : toSlash(asked)
}

/** The real path of the deepest parent that exists, and the rest as it is. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}
