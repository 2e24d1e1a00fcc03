/** Converts the changes that a command made on its layer to steps on the workspace. */
import { ModelRetry } from '@mulligan/core'
import { atOnce } from '../at-once.ts'
import type { LayerChange, OpenOnLayer, State } from '../workspace/change.ts'
import { type Blobs, keepFile } from './blobs.ts'
import { gitLocks } from './git-locks.ts'
import { createPlanner } from './planner.ts'
import type { Step } from './state.ts'
import { MISSING, sameMode, sameState } from './state.ts'

/** Permission bits for user, group and others, and the sticky bit. Set-user-id is never adopted from a command. */
const TAKEN_OVER = 0o1777

/**
 * Returns the steps: first git's locks, then removals (deepest first), then additions and replacements (folders before their contents).
 *
 * @param open opens a file of the layer for reading; closed here
 * @throws ModelRetry (conflict) if the workspace is not in the state that the change set expects
 */
export async function adoptionSteps(
  root: string,
  open: OpenOnLayer,
  changes: readonly LayerChange[],
  blobs: Blobs,
): Promise<readonly Step[]> {
  const seen = new Map<string, State>()
  const planner = createPlanner(root, blobs, seen)
  const ordered = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1))
  const met: string[] = []
  const replaced = new Set(ordered.flatMap(({ path, before }) => (before.kind === 'file' || before.kind === 'link' ? [path] : [])))
  await atOnce(ordered, async ({ path, before }) => {
    // Below a file or link that the command replaced with a folder there was nothing. The file or link itself is checked.
    if (before.kind === 'missing' && parentsOf(path).some((parent) => replaced.has(parent))) return
    const now = await planner.look(path).catch(() => undefined)
    if (now) seen.set(path, now)
    if (!now || !sameState(now, before) || !sameMode(now, before)) met.push(path)
  })
  if (met.length > 0) throw changedUnderneath(met.sort())
  // Contents are stored first, because a plan may only refer to stored contents.
  await atOnce(ordered, async ({ path, before, after }) => {
    if (before.kind === 'file') await keepFile(blobs, root, path, before)
    if (after.kind !== 'file') return
    await using file = await open(path)
    await blobs.take(file.fd, after.hash)
  })
  const locks = await gitLocks(planner, ordered)
  for (const { path, before, after } of ordered.toReversed()) {
    if (before.kind === 'missing' || staysInPlace(before, after)) continue
    if (before.kind === 'directory') await locks.release(path)
    await planner.set(path, await planner.look(path), MISSING)
  }
  for (const { path, after } of ordered) {
    if (after.kind === 'missing') continue
    await planner.set(path, await planner.look(path), takenOver(after))
  }
  await locks.release()
  return planner.steps
}

/** Returns true if a rename or chmod is enough. Otherwise the old entry has to be removed first. */
const staysInPlace = (before: State, after: State): boolean =>
  before.kind === after.kind && (after.kind === 'file' || after.kind === 'directory')

const takenOver = (state: State): State =>
  'mode' in state && state.mode !== undefined ? { ...state, mode: state.mode & TAKEN_OVER } : state

const parentsOf = (path: string): readonly string[] =>
  path.split('/').flatMap((_, index, names) => (index === 0 ? [] : [names.slice(0, index).join('/')]))

const MAX_NAMED = 5

function changedUnderneath(paths: readonly string[]): ModelRetry {
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : ''
  const named = paths
    .slice(0, MAX_NAMED)
    .map((path) => JSON.stringify(path))
    .join(', ')
  const says = `${named}${more} changed while the command ran or its changes waited, so none of them were kept, and the files are as they were left.`
  return new ModelRetry(`${says} Run the command again: it starts from the files as they are now.`, {
    errorType: 'conflict',
    parameter: 'command',
    value: paths[0] ?? '',
    constraint: 'files that nothing else changes meanwhile',
  })
}
