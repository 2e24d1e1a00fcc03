/** Which changes a commit is made of. Pure, but for the questions that it is handed. */
import { quoted } from '../common/names.ts'
import type { WorkingTree } from '../git_status/porcelain.ts'

/** Every path with a change of any kind, once. */
export function changedPaths({ staged, unstaged, conflicts, untracked }: WorkingTree): string[] {
  const tracked = [...staged, ...unstaged].flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]))
  return [...new Set([...tracked, ...conflicts.map(({ path }) => path), ...untracked])]
}

/** Without what is new in a `.mulligan` folder: settings and tools that run by themselves are nobody's by-catch. */
export const withoutOwn = (tree: WorkingTree): WorkingTree => ({ ...tree, untracked: tree.untracked.filter((path) => !isOwn(path)) })

const isOwn = (path: string): boolean => path.split('/').some((name) => name.toLowerCase() === '.mulligan')

/** True when the path, or something below it, or the new folder it lies in, is among them. */
export function touches(path: string, changed: readonly string[]): boolean {
  if (path === '.') return changed.length > 0
  return changed.some((one) => one === path || one.startsWith(`${path}/`) || (one.endsWith('/') && `${path}/`.startsWith(one)))
}

/** The marks that git leaves around both sides of a conflict. */
export const hasMarkers = (text: string): boolean => /^<{7}(?: |$)/m.test(text) && /^>{7}(?: |$)/m.test(text)

/** Paths that a hint names, and files that the answer does. */
export const NAMED = 20

export const some = (paths: readonly string[]): string =>
  paths.slice(0, NAMED).map(quoted).join(', ') + (paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '')
