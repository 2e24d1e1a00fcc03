/**
 * Git's own locks, held while what a command did to a repository is made: git started meanwhile waits or refuses, as for another git.
 * Each is a link that leads nowhere and names its owner: made in one step, so that one whose process was killed is known.
 */
import { readdir, readlink, symlink, unlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import type { LayerChange } from './adopt.ts'
import { isAlive, type Owner, thisProcess } from './owner.ts'

/** What git writes under a lock, and what a commit changes. Objects need none: their names are their contents. */
const LOCKED = /(?:^|\/)\.git\/(?:worktrees\/[^/]+\/)?(?:index|HEAD|packed-refs|config|refs\/(?!.*\.lock$).+)$/

/**
 * @param changes that are about to be made
 * @throws ModelRetry (conflict) when git holds one of the locks
 */
export async function withGitLocks<T>(root: string, changes: readonly LayerChange[], work: () => Promise<T>): Promise<T> {
  // A lock would keep the folder of a branch, or of a worktree, from being removed.
  const removed = new Set(
    changes.filter(({ before, after }) => before.kind === 'directory' && after.kind !== 'directory').map(({ path }) => path),
  )
  const wanted = changes.map(({ path }) => path).filter((path) => LOCKED.test(path) && !removed.has(posix.dirname(path)))
  const held: string[] = []
  try {
    for (const path of wanted.map((one) => `${one}.lock`)) if (await lock(root, path)) held.push(path)
    return await work()
  } finally {
    await Promise.all(held.map((path) => unlink(join(root, path)).catch(() => undefined)))
  }
}

/** @returns false where there is no folder for it: of a new branch, nobody holds a lock in it */
async function lock(root: string, path: string, again = true): Promise<boolean> {
  try {
    await symlink(MARK + JSON.stringify({ owner: thisProcess(), at: Date.now() }), join(root, path))
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    if (code !== 'EEXIST') throw error
    if (again && (await removeDead(join(root, path)))) return lock(root, path, false)
    throw new ModelRetry(`Another git is at work in the repository (${path} is there), so nothing of the command was kept.`, {
      errorType: 'conflict',
      parameter: 'command',
      constraint: 'a repository that no other git is changing: run the command again when that one has ended',
    })
  }
}

const MARK = 'mulligan:'

/** Removes the locks of processes that were killed while they held them. */
export async function releaseDeadLocks(root: string): Promise<void> {
  const git = join(root, '.git')
  const worktrees = await readdir(join(git, 'worktrees')).catch(() => [])
  const folders = [git, ...worktrees.map((name) => join(git, 'worktrees', name)), ...(await foldersIn(join(git, 'refs')))]
  for (const folder of folders)
    for (const name of await readdir(folder).catch(() => [])) if (name.endsWith('.lock')) await removeDead(join(folder, name))
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const inner = await Promise.all(found.filter((one) => one.isDirectory()).map(({ name }) => foldersIn(join(folder, name))))
  return [folder, ...inner.flat()]
}

/** @returns whether it was one */
async function removeDead(path: string): Promise<boolean> {
  const target = await readlink(path).catch(() => '')
  if (!target.startsWith(MARK)) return false
  try {
    const { owner, at } = JSON.parse(target.slice(MARK.length)) as { readonly owner: Owner; readonly at: number }
    if (isAlive(owner, at)) return false
    await unlink(path)
    return true
  } catch {
    return false
  }
}
