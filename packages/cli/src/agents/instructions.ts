/** `AGENTS.md` of the project: of each folder from the root of the repository down to the one that is worked in. */
import { join, relative } from 'node:path'
import type { Instructions } from '@mulligan/agent'
import { foldersTo } from '../repository.ts'
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
