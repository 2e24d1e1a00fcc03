/** Reads run side by side, the rest in order: an effect waits for all before it, and all after it wait for the effect. */
import type { Effect } from '@mulligan/core'

/** Reads of one response that run at once. */
export const MAX_SIDE_BY_SIDE = 8

/** The returned function is to be called in the order of the calls. */
export function createLanes(most = MAX_SIDE_BY_SIDE): <T>(effect: Effect, run: () => Promise<T>) => Promise<T> {
  let barrier: Promise<unknown> = Promise.resolve()
  let reads: Promise<unknown>[] = []
  return (effect, run) => {
    const before = effect === 'read' ? Promise.all([barrier, reads[reads.length - most]]) : Promise.all([barrier, ...reads])
    const done = before.then(run)
    const settled = done.catch(() => undefined)
    if (effect === 'read') reads.push(settled)
    else {
      barrier = settled
      reads = []
    }
    return done
  }
}
