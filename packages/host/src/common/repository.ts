/** The folders of a repository, as far as what is in them may be trusted to be of its owner. */
import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * From the root of the repository down to the folder; without one, this folder alone. Above it only what belongs to the same user
 * counts: in a folder such as `/tmp` anybody can make a `.git`.
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

/** The user's number, the same for all where there are none; undefined for what does not exist. */
function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid
  } catch {
    return undefined
  }
}
