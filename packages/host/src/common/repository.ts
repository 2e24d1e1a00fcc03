/** Finds the folders of a repository whose contents can be trusted to belong to its owner. */
import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns the folders from the repository root down to this one; outside a repository, only this folder. Parent folders count only if they
 * belong to the same user: in a folder such as `/tmp` anybody can create a `.git`.
 */
export function foldersTo(cwd: string): readonly string[] {
  const trusted = new Set([process.getuid?.(), ownerOf(cwd)])
  const isOwn = (path: string): boolean => trusted.has(ownerOf(path) ?? Number.NaN)
  const folders: string[] = []
  for (let folder = cwd; ; folder = dirname(folder)) {
    const counts = folder === cwd || isOwn(folder)
    if (counts) folders.unshift(folder)
    if (counts && isOwn(join(folder, '.git'))) return folders
    if (dirname(folder) === folder) return [cwd]
  }
}

/** Returns the owner's user ID (the same for all files on platforms without one); undefined if the path does not exist. */
function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid
  } catch {
    return undefined
  }
}
