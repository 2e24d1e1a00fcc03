/** Makes the steps of a plan, and rolls them back from wherever it was left. */
import { atOnce } from '../at-once.ts'
import { untilAborted } from '../until-aborted.ts'
import type { Blobs } from './blobs.ts'
import { isRather, sameState } from './state.ts'
import { after, parentOf, type SetStep, type Step } from './step.ts'
import { codeOf, move, put, removeStaged, stage, stateAt, syncFolder, Unexpected } from './tree.ts'

export interface Restored {
  /** Paths that are as they were before. */
  readonly restored: readonly string[]
  /** Paths that somebody else has changed, and that were left alone. */
  readonly left: readonly string[]
}

export interface PlanInHand {
  /**
   * @param signal heeded as long as a file has to be written to disk
   * @throws what the file system or {@link put} throws, and the signal's reason; then some of the steps are made
   */
  readonly perform: (signal?: AbortSignal) => Promise<void>
  /**
   * Takes back the steps that are made, and no other. What is neither as it was before nor as the step makes it is
   * somebody else's. May itself be cut off, and run again.
   */
  readonly rollBack: () => Promise<Restored>
}

/** @param made how many of the steps are made already */
export function planInHand(root: string, steps: readonly Step[], blobs: Blobs, made = 0): PlanInHand {
  let done = made
  return {
    perform: async (signal) => {
      const staged = await untilAborted(signal, () => stageAhead(root, steps, blobs, signal))
      for (const step of steps) {
        if (step.kind === 'move') await move(root, step.from, step.to, step.state)
        else {
          const { after } = step
          if (after.kind === 'file' && !staged.has(step)) await untilAborted(signal, () => stage(root, step, after, blobs, signal))
          await put(root, step, step.before, step.after)
        }
        // Counted, as the tree does not tell who has made a step: somebody else may have made the same.
        done++
      }
      await syncFolders(root, steps)
    },
    rollBack: async () => {
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

/** All that can fail for want of space comes first. Not where a folder is moved: what is laid ready in it would go with it. */
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

/** Not only made by the steps before. */
const isThere = (before: readonly Step[], folder: string): boolean => folder === '' || 'disk' in after(before, folder)

type Outcome = 'restored' | 'as before' | 'foreign'

async function setBack(root: string, step: SetStep, blobs: Blobs): Promise<Outcome> {
  const now = await stateAt(root, step.path)
  if (isRather(now, step.before, step.after)) return 'as before'
  if (!isRather(now, step.after, step.before)) return 'foreign'
  if (step.before.kind === 'file') await stage(root, step, step.before, blobs)
  // A folder that somebody has put something into stays.
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
