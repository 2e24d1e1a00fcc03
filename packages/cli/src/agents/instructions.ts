/** `AGENTS.md` of the project: of each folder from the root of the repository down to the one that is worked in. */
import { lstatSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Instructions } from '@mulligan/agent'
import { readText } from './read-text.ts'

const NAME = 'AGENTS.md'
/** Read where there is no {@link NAME}. */
const FALLBACK = 'CLAUDE.md'

/** The nearest last. */
export function projectInstructions(cwd: string): readonly Instructions[] {
  const folders = foldersTo(cwd)
  const found = instructionsIn(folders, NAME, cwd)
  return found.length > 0 ? found : instructionsIn(folders, FALLBACK, cwd)
}

function instructionsIn(folders: readonly string[], name: string, cwd: string): readonly Instructions[] {
  return folders.flatMap((folder) => {
    const text = readText(folders[0] ?? folder, join(folder, name))
    if (text === undefined || text.trim() === '') return []
    const from = join(relative(cwd, folder), name).replaceAll('\\', '/')
    // What lies above the workspace, its tools can't read.
    return [{ from, text, ...(folder === cwd && { path: name }) }]
  })
}

/**
 * From the root of the repository; without one, this folder alone. Above it only what belongs to the same user counts: in a
 * folder such as `/tmp` anybody can make a `.git`.
 */
function foldersTo(cwd: string): readonly string[] {
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

/** The user's number, the same for all where there are none; undefined for what is not there. */
function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid
  } catch {
    return undefined
  }
}
