/**
 * Git's own locks, held while what a command did to a repository is made: git started meanwhile waits or refuses, as for another git. They
 * are steps of the plan like any other, so whatever becomes of the plan none is left behind.
 */
import { ModelRetry } from '@mulligan/core'
import type { State } from '../workspace/change.ts'
import type { Planner } from './planner.ts'
import { MISSING } from './state.ts'
import { isBelow, parentOf } from './step.ts'

/** What git writes under a lock, and what a commit changes. Objects need none: their names are their contents. */
const LOCKED = /(?:^|\/)\.git\/(?:worktrees\/[^/]+\/)?(?:index|HEAD|packed-refs|config|refs\/(?!.*\.lock$).+)$/
/** A link is made at once and only where nothing stands, as git makes its own. */
const LOCK: State = { kind: 'link', target: 'held by mulligan' }

export interface GitLocks {
  /** Those in a folder that is about to be removed; default all. */
  readonly release: (folder?: string) => Promise<void>
}

/**
 * Takes the locks for paths that are about to be changed.
 * @throws ModelRetry (conflict) when git holds one of them
 */
export async function gitLocks(
  planner: Planner,
  changes: readonly { readonly path: string; readonly before: State; readonly after: State }[],
): Promise<GitLocks> {
  const held = new Set<string>()
  for (const { path, before, after } of changes) {
    // Git locks files, and the folder of a new branch is not there yet, so nobody holds a lock in it.
    if (!LOCKED.test(path) || [before, after].some(({ kind }) => kind === 'directory')) continue
    if ((await planner.look(parentOf(path))).kind !== 'directory') continue
    const lock = `${path}.lock`
    if ((await planner.look(lock)).kind !== 'missing') throw locked(lock)
    await planner.set(lock, MISSING, LOCK)
    held.add(lock)
  }
  return {
    release: async (folder) => {
      for (const lock of held) {
        if (folder !== undefined && !isBelow(folder, lock)) continue
        await planner.set(lock, LOCK, MISSING)
        held.delete(lock)
      }
    },
  }
}

const locked = (path: string): ModelRetry =>
  new ModelRetry(`Another git is at work in the repository (${path} is there), so nothing of the command was kept.`, {
    errorType: 'conflict',
    parameter: 'command',
    constraint: 'a repository that no other git is changing: run the command again when that one has ended',
  })
