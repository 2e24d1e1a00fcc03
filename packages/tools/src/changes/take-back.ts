/** The plan that brings back what was before some steps, from the tree as it is now. */
import type { Blobs } from './blobs.ts'
import { createPlanner, type Planner } from './planner.ts'
import { type State, sameState } from './state.ts'
import { coalesced, inverse, isBelow, type MoveStep, type SetStep, type Step } from './step.ts'
import { codeOf, stateAt } from './tree.ts'

export interface Conflict {
  readonly path: string
  readonly why: string
  /** `force` helps: what stands there is overwritten. */
  readonly forceable: boolean
}

export interface TakeBack {
  readonly steps: readonly Step[]
  /** Where the tree is not as the steps left it. Those that can be forced are in the plan. */
  readonly conflicts: readonly Conflict[]
}

/** @param steps what is to be taken back */
export async function planTakeBack(root: string, steps: readonly Step[], blobs: Blobs): Promise<TakeBack> {
  const planner = createPlanner(root, blobs)
  const conflicts: Conflict[] = []
  for (const step of coalesced(inverse(steps))) {
    const conflict = step.kind === 'move' ? await planMove(planner, step) : await planSet(root, planner, step)
    if (conflict) conflicts.push(conflict)
  }
  return { steps: planner.steps, conflicts }
}

/** `step.before` is what the turn has left, `step.after` what was there before it. */
async function planSet(root: string, planner: Planner, { path, before: left, after: wanted }: SetStep): Promise<Conflict | undefined> {
  const stuck = (why: string): Conflict => ({ path, why, forceable: false })
  const now = await look(planner, path)
  if (now === undefined) return stuck('it lies in what is now a file or a link')
  if (wanted.kind === 'missing' && left.kind === 'directory') {
    if (now.kind === 'directory') await planner.set(path, now, wanted, true)
    return undefined
  }
  if (sameState(now, wanted)) return undefined
  if (now.kind === 'directory' || now.kind === 'other') return stuck(`it is now ${now.kind === 'directory' ? 'a folder' : 'no file'}`)
  if (now.kind === 'link' && !sameState(now, left)) return stuck('it is now a link')
  if (wanted.kind === 'directory' && now.kind !== 'missing') return stuck('it is now a file')
  if (wanted.kind !== 'missing' && (await isFileAbove(root, planner, path))) return stuck('it lies in what is now a file or a link')
  await planner.set(path, now, wanted)
  if (sameState(now, left)) return undefined
  return { path, why: now.kind === 'missing' ? 'it was removed since' : 'it was changed since', forceable: true }
}

async function planMove(planner: Planner, { from, to, state }: MoveStep): Promise<Conflict | undefined> {
  const [now, there] = [await look(planner, from), await look(planner, to)]
  if (now?.kind !== state.kind) return { path: from, why: 'it was removed or replaced since', forceable: false }
  if (there?.kind !== 'missing') return { path: to, why: 'something else stands there now', forceable: false }
  await planner.move(from, to, now)
  return sameState(now, state) ? undefined : { path: from, why: 'it was changed since', forceable: true }
}

/** Undefined where the path leads through a file. */
async function look(planner: Planner, path: string): Promise<State | undefined> {
  try {
    return await planner.look(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'ELOOP') throw error
    return undefined
  }
}

/** A folder of the path that is none any more, and that the plan does not put right. */
async function isFileAbove(root: string, planner: Planner, path: string): Promise<boolean> {
  const [first = '', ...rest] = path.split('/').slice(0, -1)
  let folder = ''
  for (const name of first === '' ? [] : [first, ...rest]) {
    folder = folder === '' ? name : `${folder}/${name}`
    const planned = planner.steps.some((step) => step.kind === 'set' && (step.path === folder || isBelow(step.path, folder)))
    const state = planned ? await planner.look(folder) : await stateAt(root, folder)
    if (state.kind !== 'directory' && state.kind !== 'missing') return true
  }
  return false
}
