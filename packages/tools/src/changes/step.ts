/** What a changeset does, one path after the other. Paths are relative to the workspace, with forward slashes. */
import type { State } from '../workspace/change.ts'

export type Step = SetStep | MoveStep

/** Another thing stands at the path afterwards. */
export interface SetStep {
  readonly kind: 'set'
  readonly path: string
  readonly before: State
  readonly after: State
  /** Name of the file beside it in which a content is laid ready. */
  readonly temporary: string
  /** A folder that is not empty is left standing. */
  readonly lenient?: boolean
}

/** Nothing stands at `to` before, and nothing at `from` afterwards. */
export interface MoveStep {
  readonly kind: 'move'
  readonly from: string
  readonly to: string
  /** What is moved. */
  readonly state: State
}

export const isBelow = (folder: string, path: string): boolean => path.startsWith(`${folder}/`)
export const parentOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')

/** The path under which something is found that stands at `path` once `from` has become `to`. */
export const movedBack = (path: string, from: string, to: string): string | undefined =>
  path === to || isBelow(to, path) ? from + path.slice(to.length) : undefined

/** What a path will be after the steps: known from them, or as it is on disk at another path. */
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

/** Steps that take these back. */
export const inverse = (steps: readonly Step[]): readonly Step[] =>
  steps
    .toReversed()
    .map((step) => (step.kind === 'move' ? { ...step, from: step.to, to: step.from } : { ...step, before: step.after, after: step.before }))

/**
 * One step instead of two that replace the same file one after the other, so that what it was in between is not needed.
 * Not across a move: the path may mean another file there.
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
