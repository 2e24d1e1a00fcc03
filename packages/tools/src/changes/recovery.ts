/** Takes back the plans that a process left half done. How far it came is told from the tree alone: after a crash nobody else knows. */
import type { State } from '../workspace/change.ts'
import type { Blobs } from './blobs.ts'
import type { Journal } from './journal.ts'
import { planInHand, type Restored } from './perform.ts'
import { isIdentical, MISSING, sameState } from './state.ts'
import { after, isBelow, movedBack, type Step } from './step.ts'
import { codeOf, stateAt } from './tree.ts'

/** The latest plan first. Only with the lock: then no plan is in the hands of a process that is alive. */
export async function recoverAll(root: string, journal: Journal, blobs: Blobs): Promise<Restored> {
  const restored: string[] = []
  const left: string[] = []
  for (const { name } of (await journal.list('pending')).toReversed()) {
    const changeset = await journal.read('pending', name)
    // One that can't be read can't have been begun: a plan has its name only once all of it is on disk.
    if (!changeset) continue
    const outcome = await rollBack(root, changeset.steps, blobs)
    await journal.abandon(name)
    restored.push(...outcome.restored)
    left.push(...outcome.left)
  }
  return { restored, left }
}

export const rollBack = async (root: string, steps: readonly Step[], blobs: Blobs): Promise<Restored> =>
  planInHand(root, steps, blobs, await stepsMade(root, steps)).rollBack()

type States = ReadonlyMap<string, State>

/**
 * The number of steps after which the tree would look most like it does: exactly so, unless somebody else has changed it.
 * Of several the one with more of the very files and folders in their places, as two folders look alike; then the greatest,
 * so that a path that somebody else has changed is looked at, and told.
 */
async function stepsMade(root: string, steps: readonly Step[]): Promise<number> {
  const paths = new Set(steps.flatMap((step) => (step.kind === 'move' ? [step.from, step.to] : [step.path])))
  let expected = atFirst(steps)
  for (const path of expected.keys()) paths.add(path)
  const now = new Map<string, State>()
  for (const path of paths) now.set(path, await stateAt(root, path).catch(notThere))
  let best = { made: 0, ...compare(expected, now) }
  for (const [index, step] of steps.entries()) {
    expected = next(expected, step, paths)
    const found = { made: index + 1, ...compare(expected, now) }
    if ((found.different - best.different || best.identical - found.identical) <= 0) best = found
  }
  return best.made
}

const notThere = (error: unknown): State => {
  if (codeOf(error) !== 'ENOTDIR') throw error
  return { kind: 'other' }
}

/** What the plan tells of the tree before it. */
function atFirst(steps: readonly Step[]): States {
  const states = new Map<string, State>()
  for (const [index, step] of steps.entries()) {
    const told: readonly (readonly [string, State])[] =
      step.kind === 'set'
        ? [[step.path, step.before]]
        : [
            [step.from, step.state],
            [step.to, { kind: 'missing' }],
          ]
    for (const [path, state] of told) {
      const where = after(steps.slice(0, index), path)
      if ('disk' in where && !states.has(where.disk)) states.set(where.disk, state)
    }
  }
  return states
}

function next(states: States, step: Step, paths: ReadonlySet<string>): States {
  const result = new Map(states)
  if (step.kind === 'set') return result.set(step.path, step.after)
  for (const path of paths) {
    const before = movedBack(path, step.from, step.to)
    const state: State | undefined =
      before !== undefined ? states.get(before) : path === step.from || isBelow(step.from, path) ? { kind: 'missing' } : states.get(path)
    if (state) result.set(path, state)
    else result.delete(path)
  }
  return result
}

/** What the plan does not tell of a path differs from nothing. */
function compare(expected: States, now: States): { readonly different: number; readonly identical: number } {
  let [different, identical] = [0, 0]
  for (const [path, state] of expected) {
    const found = now.get(path) ?? MISSING
    if (!sameState(state, found)) different++
    if (isIdentical(state, found)) identical++
  }
  return { different, identical }
}
