/**
 * Repositories that commands of the model have written, or could have: the sandbox guards the settings and hooks of the
 * workspace's own `.git` and of no other. What such a repository would run, runs on this machine.
 */
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isInside } from '../../workspace/paths.ts'

export interface GitFolders {
  readonly gitDir: string
  readonly commonDir: string
}

/** True unless it is the workspace's own, or lies around the workspace, where no command gets to. */
export async function isOfCommands(root: string, cwd: string, { gitDir, commonDir }: GitFolders): Promise<boolean> {
  // A `.git` on the way may be a file that names any folder, and its settings any working tree.
  for (let folder = cwd; folder !== root && isInside(root, folder); folder = dirname(folder))
    if ((await entry(join(folder, '.git'))) !== undefined) return true
  const own = join(root, '.git')
  // A link can't be held in its place.
  if ((await entry(own))?.isSymbolicLink()) return true
  if (gitDir === own) return commonDir !== own
  return isInside(root, gitDir) || isInside(root, commonDir)
}

const entry = (path: string) => lstat(path).catch(() => undefined)
