/** Makes changes without recording them: atomic while the process lives, but without undo. */
import type { ChangeLog } from '../workspace/change.ts'
import { adoptionSteps } from './adopt.ts'
import { type Blobs, memoryBlobs } from './blobs.ts'
import { planInHand } from './perform.ts'
import { changedMeanwhile, toSteps } from './planner.ts'
import type { Step } from './state.ts'
import { Unexpected } from './tree.ts'

/** @param root real path of the workspace */
export function directChanges(root: string): ChangeLog {
  const make = async (blobs: Blobs, planned: Promise<readonly Step[]>, signal?: AbortSignal): Promise<void> => {
    const plan = planInHand(root, await planned.catch(asConflict), blobs)
    try {
      await plan.perform(signal)
    } catch (error) {
      await plan.rollBack()
      throw conflictOf(error)
    }
  }
  return {
    apply: (_callId, changes, signal) => {
      const blobs = memoryBlobs(changes.length > 1 || changes[0]?.kind === 'move')
      return make(blobs, toSteps(root, changes, blobs), signal)
    },
    adopt: (_callId, open, changes) => {
      const blobs = memoryBlobs(true)
      return make(blobs, adoptionSteps(root, open, changes, blobs))
    },
  }
}

const conflictOf = (error: unknown): unknown => (error instanceof Unexpected ? changedMeanwhile({ relative: error.path }) : error)
export const asConflict = (error: unknown): never => {
  throw conflictOf(error)
}
