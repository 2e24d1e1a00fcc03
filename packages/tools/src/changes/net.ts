/** Computes the net effect of steps for each path. */
import type { State } from '../workspace/change.ts'
import { isBelow, type Step, sameMode, sameState } from './state.ts'

export interface FileChange {
  readonly kind: 'created' | 'changed' | 'deleted' | 'moved'
  /** Current path; for a deleted file, its original path. */
  readonly path: string
  /** Former path, if it was moved. */
  readonly from?: string
  readonly before: State
  readonly after: State
}

interface Track {
  /** Original path. */
  readonly origin: string
  path: string
  readonly before: State
  after: State
}

/** Returns the net changes in the order in which the paths were first touched, without those that cancel out. */
export function netChanges(steps: readonly Step[]): readonly FileChange[] {
  const tracks: Track[] = []
  /** Returns the track of what exists at a path; deleted files exist nowhere. */
  const at = (path: string): Track | undefined => tracks.findLast((track) => track.path === path && track.after.kind !== 'missing')
  const deleted = (path: string): Track | undefined => tracks.findLast((track) => track.path === path && track.after.kind === 'missing')
  for (const step of steps) {
    if (step.kind === 'move') {
      const moved = at(step.from)
      for (const track of tracks)
        if (track !== moved && track.after.kind !== 'missing' && isBelow(step.from, track.path))
          track.path = step.to + track.path.slice(step.from.length)
      if (moved) moved.path = step.to
      else tracks.push({ origin: step.from, path: step.to, before: step.state, after: step.state })
      continue
    }
    const known = at(step.path) ?? (step.before.kind === 'missing' ? sameOrigin(deleted(step.path)) : undefined)
    if (known) known.after = step.after
    else tracks.push({ origin: step.path, path: step.path, before: step.before, after: step.after })
  }
  return tracks.flatMap(changeOf)
}

/** A file that was moved here and then deleted is not the one that is created now. */
const sameOrigin = (track: Track | undefined): Track | undefined => (track?.origin === track?.path ? track : undefined)

function changeOf({ origin, path, before, after }: Track): readonly FileChange[] {
  if (before.kind === 'missing') return after.kind === 'missing' ? [] : [{ kind: 'created', path, before, after }]
  if (after.kind === 'missing') return [{ kind: 'deleted', path: origin, before, after }]
  if (origin !== path) return [{ kind: 'moved', path, from: origin, before, after }]
  return sameState(before, after) && sameMode(before, after) ? [] : [{ kind: 'changed', path, before, after }]
}
