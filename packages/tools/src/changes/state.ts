/** Comparing what stands at a path. */
import type { Missing, State } from '../workspace/change.ts'

export const MISSING: Missing = { kind: 'missing' }

/** Known to be one and the same. */
export const isIdentical = (a: State, b: State): boolean => 'inode' in a && 'inode' in b && a.kind === b.kind && a.inode === b.inode

/** Whether two are the same to a person who looks at the content: what else may differ is nobody's work. */
export function sameState(a: State, b: State): boolean {
  if (a.kind === 'file' && b.kind === 'file') return a.hash === b.hash
  if (a.kind === 'link' && b.kind === 'link') return a.target === b.target
  return a.kind === b.kind && a.kind !== 'other'
}

/** True also where the mode of one is not known. */
export const sameMode = (a: State, b: State): boolean =>
  !('mode' in a && 'mode' in b) || a.mode === undefined || b.mode === undefined || a.mode === b.mode

/** Whether `now` is `one` rather than `other`. The mode counts only where nothing else tells the two apart. */
export const isRather = (now: State, one: State, other: State): boolean =>
  sameState(now, one) && (!sameState(one, other) || sameMode(now, one))
