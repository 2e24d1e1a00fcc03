/** Changes without a record: all or none as long as the process lives, and nothing to undo them by. */
import { memoryBlobs } from './blobs.ts'
import type { ChangeLog } from './change.ts'
import { planInHand } from './perform.ts'
import { changedMeanwhile, toSteps } from './to-steps.ts'
import { Unexpected } from './tree.ts'

/** @param root real path of the workspace */
export function directChanges(root: string): ChangeLog {
  return {
    apply: async (_callId, changes) => {
      const blobs = memoryBlobs(changes.length > 1 || changes[0]?.kind === 'move')
      const steps = await toSteps(root, changes, blobs).catch(asConflict)
      const plan = planInHand(root, steps, blobs)
      try {
        await plan.perform()
      } catch (error) {
        await plan.takeBack()
        throw conflictOf(error)
      }
    },
  }
}

const conflictOf = (error: unknown): unknown => (error instanceof Unexpected ? changedMeanwhile({ relative: error.path }) : error)
export const asConflict = (error: unknown): never => {
  throw conflictOf(error)
}
