/** Where something has gone since, by the moves that are recorded. */
import type { Changeset } from './record.ts'
import { movedBack } from './step.ts'

export interface Gone {
  readonly to: string
  /** The turn that moved it there. */
  readonly turn: string
}

/**
 * @param later the changesets of other turns since then, oldest first
 * @returns undefined when it stands where it was, or was not moved but removed
 */
export function movedSince(later: readonly Changeset[], path: string): Gone | undefined {
  let gone: Gone = { to: path, turn: '' }
  for (const { turn, steps } of later)
    for (const step of steps) {
      if (step.kind === 'set') {
        if (step.path === gone.to && step.after.kind === 'missing') return undefined
        continue
      }
      const to = movedBack(gone.to, step.to, step.from)
      if (to !== undefined) gone = { to, turn }
    }
  return gone.to === path ? undefined : gone
}
