/** Git's own locks, held while what a command did to a repository is made: git started meanwhile waits or refuses, as for another git. */
import { open, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import type { Change } from '@mulligan/sandbox'

/** What git writes under a lock, and what a commit changes. Objects need none: their names are their contents. */
const LOCKED = /(?:^|\/)\.git\/(?:worktrees\/[^/]+\/)?(?:index|HEAD|packed-refs|config|refs\/(?!.*\.lock$).+)$/

/**
 * @param changes that are about to be made
 * @throws ModelRetry (conflict) when git holds one of the locks
 */
export async function withGitLocks<T>(root: string, changes: readonly Change[], work: () => Promise<T>): Promise<T> {
  // A lock would keep the folder of a branch, or of a worktree, from being removed.
  const removed = new Set(changes.filter(({ kind, before }) => kind === 'deleted' && before?.type === 'directory').map(({ path }) => path))
  const wanted = changes.map(({ path }) => path).filter((path) => LOCKED.test(path) && !removed.has(posix.dirname(path)))
  const held: string[] = []
  try {
    for (const path of wanted.map((one) => `${one}.lock`)) {
      const lock = await open(join(root, path), 'wx').catch((error: NodeJS.ErrnoException) => error)
      if (!(lock instanceof Error)) {
        await lock.close()
        held.push(path)
      } else if (lock.code === 'EEXIST') throw locked(path)
      // The folder of a new branch is not there yet, so nobody holds a lock in it.
      else if (lock.code !== 'ENOENT') throw lock
    }
    return await work()
  } finally {
    await Promise.all(held.map((path) => rm(join(root, path), { force: true })))
  }
}

const locked = (path: string): ModelRetry =>
  new ModelRetry(`Another git is at work in the repository (${path} is there), so nothing of the command was kept.`, {
    errorType: 'conflict',
    parameter: 'command',
    constraint: 'a repository that no other git is changing',
  })
