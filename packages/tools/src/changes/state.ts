/** Compares the states of paths, and defines the steps of a changeset. Their paths are relative to the workspace, with forward slashes. */
import type { State } from '../workspace/change.ts'

export const MISSING = { kind: 'missing' } as const

/** Returns true if both are known to be the same file or folder. */
export const isIdentical = (a: State, b: State): boolean => 'inode' in a && 'inode' in b && a.kind === b.kind && a.inode === b.inode

/** Returns true if two states have the same content. Other differences are not a person's work. */
export function sameState(a: State, b: State): boolean {
  if (a.kind === 'file' && b.kind === 'file') return a.hash === b.hash
  if (a.kind === 'link' && b.kind === 'link') return a.target === b.target
  return a.kind === b.kind && a.kind !== 'other'
}

/** Also true if either mode is unknown. */
export const sameMode = (a: State, b: State): boolean =>
  !('mode' in a && 'mode' in b) || a.mode === undefined || b.mode === undefined || a.mode === b.mode

/** Returns true if `now` matches `one` rather than `other`. The mode counts only if nothing else distinguishes the two. */
export const isRather = (now: State, one: State, other: State): boolean =>
  sameState(now, one) && (!sameState(one, other) || sameMode(now, one))

export type Step = SetStep | MoveStep

/** Changes the state of a path. */
export interface SetStep {
  readonly kind: 'set'
  readonly path: string
  readonly before: State
  readonly after: State
  /** Name of the temporary file beside it in which the content is staged. */
  readonly temporary: string
  /** Keeps a folder that is not empty. */
  readonly lenient?: boolean
}

/** Before the move nothing exists at `to`, and after it nothing at `from`. */
export interface MoveStep {
  readonly kind: 'move'
  readonly from: string
  readonly to: string
  /** State of the moved entry. */
  readonly state: State
}

export const isBelow = (folder: string, path: string): boolean => path.startsWith(`${folder}/`)
export const parentOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')

/** Returns the former path of something that is at `path` after `from` was renamed to `to`. */
export const movedBack = (path: string, from: string, to: string): string | undefined =>
  path === to || isBelow(to, path) ? from + path.slice(to.length) : undefined

/** Returns the state of a path after the steps, or the path on disk where its state is found. */
export function after(steps: readonly Step[], path: string): { readonly state: State } | { readonly disk: string } {
  let at = path
  for (const step of steps.toReversed()) {
    if (step.kind === 'move') {
      const before = movedBack(at, step.from, step.to)
      if (before === undefined && (at === step.from || isBelow(step.from, at))) return { state: { kind: 'missing' } }
      at = before ?? at
    } else if (step.path === at) return { state: step.after }
    else if (isBelow(step.path, at) && step.after.kind !== 'directory') return { state: { kind: 'missing' } }
  }
  return { disk: at }
}

/** Returns the steps that reverse these. */
export const inverse = (steps: readonly Step[]): readonly Step[] =>
  steps
    .toReversed()
    .map((step) => (step.kind === 'move' ? { ...step, from: step.to, to: step.from } : { ...step, before: step.after, after: step.before }))

/**
 * Merges consecutive replacements of the same file, so that the contents in between are not needed. Does not merge across a move, because
 * the path may then refer to another file.
 */
export function coalesced(steps: readonly Step[]): readonly Step[] {
  const out: Step[] = []
  let last = new Map<string, number>()
  for (const step of steps) {
    const at = step.kind === 'set' ? last.get(step.path) : undefined
    const earlier = at === undefined ? undefined : out[at]
    if (step.kind === 'move') last = new Map()
    else if (earlier?.kind === 'set' && at !== undefined && isFile(earlier.after) && isFile(step.before)) {
      out[at] = { ...earlier, after: step.after }
      continue
    } else last.set(step.path, out.length)
    out.push(step)
  }
  return out.filter((step) => step.kind === 'move' || step.before.kind !== 'missing' || step.after.kind !== 'missing')
}

const isFile = ({ kind }: State): boolean => kind === 'file'
