/** Performs the steps of a plan, and rolls them back from any point, even after the process died. */
import { atOnce } from '../at-once.ts'
import { untilAborted } from '../until-aborted.ts'
import type { State } from '../workspace/change.ts'
import type { Blobs } from './blobs.ts'
import type { Journal } from './journal.ts'
import { after, isBelow, isIdentical, isRather, MISSING, movedBack, parentOf, type SetStep, type Step, sameState } from './state.ts'
import { codeOf, move, put, removeStaged, stage, stateAt, syncFolder, Unexpected } from './tree.ts'

export interface Restored {
  /** Paths that were restored. */
  readonly restored: readonly string[]
  /** Paths that somebody else has changed and that were left alone. */
  readonly left: readonly string[]
}

/** @param made number of steps that are already made */
export function planInHand(root: string, steps: readonly Step[], blobs: Blobs, made = 0) {
  let done = made
  return {
    /**
     * @param signal respected while files are still being written to disk
     * @throws errors of the file system or {@link put}, or the signal's reason; some of the steps may have been made by then
     */
    perform: async (signal?: AbortSignal): Promise<void> => {
      const staged = await untilAborted(signal, () => stageAhead(root, steps, blobs, signal))
      for (const step of steps) {
        if (step.kind === 'move') await move(root, step.from, step.to, step.state)
        else {
          const { after } = step
          if (after.kind === 'file' && !staged.has(step)) await untilAborted(signal, () => stage(root, step, after, blobs, signal))
          await put(root, step, step.before, step.after)
        }
        // Counted, because the tree does not show who made a step: somebody else may have made the same change.
        done++
      }
      await syncFolders(root, steps)
    },
    /**
     * Rolls back the steps that were made, and no others. A path that is neither in the state before nor after the step was changed by
     * somebody else. May be interrupted and run again.
     */
    rollBack: async (): Promise<Restored> => {
      const restored: string[] = []
      const left: string[] = []
      for (const [index, step] of [...steps.entries()].toReversed()) {
        const path = step.kind === 'move' ? step.from : step.path
        try {
          if (step.kind === 'set') await removeStaged(root, step)
          if (index >= done) continue
          const outcome = step.kind === 'move' ? await moveBack(root, step) : await setBack(root, step, blobs)
          if (outcome === 'restored') restored.push(path)
          if (outcome === 'foreign') left.push(path)
        } catch (error) {
          if (!(error instanceof Unexpected) && codeOf(error) !== 'ENOTDIR') throw error
          if (index < done) left.push(path)
        }
        done = Math.min(done, index)
      }
      if (restored.length > 0) await syncFolders(root, steps)
      return { restored: [...new Set(restored)].reverse(), left: [...new Set(left)].reverse() }
    },
  }
}

/**
 * Stages files before any step, because this is what can fail for lack of space. Does nothing if the plan moves a folder, because staged
 * files would move with it.
 */
async function stageAhead(root: string, steps: readonly Step[], blobs: Blobs, signal?: AbortSignal): Promise<ReadonlySet<Step>> {
  const staged = new Set<Step>()
  if (steps.some((step) => step.kind === 'move' && step.state.kind === 'directory')) return staged
  await atOnce(steps.entries(), async ([index, step]) => {
    if (step.kind !== 'set' || step.after.kind !== 'file' || !isThere(steps.slice(0, index), parentOf(step.path))) return
    await stage(root, step, step.after, blobs, signal)
    staged.add(step)
  })
  return staged
}

/** Returns true if the folder exists before the plan and is not just created by earlier steps. */
const isThere = (before: readonly Step[], folder: string): boolean => folder === '' || 'disk' in after(before, folder)

type Outcome = 'restored' | 'as before' | 'foreign'

async function setBack(root: string, step: SetStep, blobs: Blobs): Promise<Outcome> {
  const now = await stateAt(root, step.path)
  if (isRather(now, step.before, step.after)) return 'as before'
  if (!isRather(now, step.after, step.before)) return 'foreign'
  if (step.before.kind === 'file') await stage(root, step, step.before, blobs)
  // A folder that somebody has put something into is kept.
  await put(root, { ...step, lenient: true }, now, step.before)
  return 'restored'
}

async function moveBack(root: string, { from, to, state }: Extract<Step, { kind: 'move' }>): Promise<Outcome> {
  const [source, target] = [await stateAt(root, from), await stateAt(root, to)]
  if (source.kind !== 'missing') return sameState(source, state) ? 'as before' : 'foreign'
  if (!sameState(target, state)) return 'foreign'
  await move(root, to, from, target)
  return 'restored'
}

async function syncFolders(root: string, steps: readonly Step[]): Promise<void> {
  const paths = steps.flatMap((step) => (step.kind === 'move' ? [step.from, step.to] : [step.path]))
  for (const folder of new Set(paths.map(parentOf))) await syncFolder(root, folder).catch(() => undefined)
}

/** Rolls back the latest plan first. Requires the lock, so that no plan belongs to a live process. */
export async function recoverAll(root: string, journal: Journal, blobs: Blobs): Promise<Restored> {
  const restored: string[] = []
  const left: string[] = []
  for (const { name } of (await journal.list('pending')).toReversed()) {
    const changeset = await journal.read('pending', name)
    // An unreadable plan was never begun: a plan gets its name only once all of it is on disk.
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
 * Returns the number of steps after which the expected tree is closest to the actual one. They match exactly unless somebody else has
 * changed something. Among equals, prefers the number with more identical files and folders in place, because two folders look alike; then
 * the highest number, so that a path changed by somebody else is examined and reported.
 */
async function stepsMade(root: string, steps: readonly Step[]): Promise<number> {
  const paths = new Set(steps.flatMap((step) => (step.kind === 'move' ? [step.from, step.to] : [step.path])))
  let expected = atFirst(steps, paths)
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

/** Returns the state of the tree before the plan, as far as the plan records it. A folder that is removed is empty. */
function atFirst(steps: readonly Step[], paths: ReadonlySet<string>): States {
  const states = new Map<string, State>()
  for (const [index, step] of steps.entries()) {
    const told: readonly (readonly [string, State])[] =
      step.kind === 'set'
        ? [[step.path, step.before], ...(isRemoval(step) ? [...paths].filter((path) => isBelow(step.path, path)).map(missingAt) : [])]
        : [[step.from, step.state], missingAt(step.to)]
    for (const [path, state] of told) {
      const where = after(steps.slice(0, index), path)
      if ('disk' in where && !states.has(where.disk)) states.set(where.disk, state)
    }
  }
  return states
}

const missingAt = (path: string): readonly [string, State] => [path, MISSING]
const isRemoval = ({ before, after, lenient }: SetStep): boolean => before.kind === 'directory' && after.kind === 'missing' && !lenient

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

/** Compares states. A path whose expected state is unknown does not count as different. */
function compare(expected: States, now: States): { readonly different: number; readonly identical: number } {
  let [different, identical] = [0, 0]
  for (const [path, state] of expected) {
    const found = now.get(path) ?? MISSING
    if (!sameState(state, found)) different++
    if (isIdentical(state, found)) identical++
  }
  return { different, identical }
}
