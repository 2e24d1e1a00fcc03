/**
 * Holds git's own locks while the changes of a command to a repository are made. A git process started meanwhile waits or refuses, as it
 * does for another git. The locks are ordinary steps of the plan, so none is left behind whatever happens to the plan.
 */
import { ModelRetry } from '@mulligan/core'
import type { LayerChange, State } from '../workspace/change.ts'
import type { Planner } from './planner.ts'
import { isBelow, MISSING, parentOf } from './state.ts'

/**
 * Files that git writes under a lock, and those that a commit changes. Objects need no lock, because their names are hashes of their
 * contents.
 */
const LOCKED = /(?:^|\/)\.git\/(?:worktrees\/[^/]+\/)?(?:index|HEAD|packed-refs|config|refs\/(?!.*\.lock$).+)$/
/** Creating a link is atomic and fails if the path exists, as when git creates its own locks. */
const LOCK: State = { kind: 'link', target: 'held by mulligan' }

/**
 * Takes the locks for paths that are about to change.
 * @throws ModelRetry (conflict) if git holds one of them
 */
export async function gitLocks(planner: Planner, changes: readonly LayerChange[]) {
  const held = new Set<string>()
  for (const { path, before, after } of changes) {
    // Git locks only files. The folder of a new branch does not exist yet, so nobody holds a lock in it.
    if (!LOCKED.test(path) || [before, after].some(({ kind }) => kind === 'directory')) continue
    if ((await planner.look(parentOf(path))).kind !== 'directory') continue
    const lock = `${path}.lock`
    if ((await planner.look(lock)).kind !== 'missing') throw locked(lock)
    await planner.set(lock, MISSING, LOCK)
    held.add(lock)
  }
  return {
    /** Releases the locks in a folder that is about to be removed. Default: all locks. */
    release: async (folder?: string): Promise<void> => {
      for (const lock of held) {
        if (folder !== undefined && !isBelow(folder, lock)) continue
        await planner.set(lock, LOCK, MISSING)
        held.delete(lock)
      }
    },
  }
}

const locked = (path: string): ModelRetry =>
  new ModelRetry(`Another git process is using the repository (${path} exists), so no changes of the command were kept.`, {
    errorType: 'conflict',
    parameter: 'command',
    constraint: 'a repository that no other git is changing: run the command again when that one has ended',
  })
