/** Reads `AGENTS.md` from each folder between the repository root and the working folder. */
import { join, relative } from 'node:path'
import type { Instructions } from '@mulligan/agent'
import { foldersTo } from '../common/repository.ts'
import type { AgentProblem } from './own.ts'
import { readText } from './read-text.ts'

const NAME = 'AGENTS.md'
/** Read if there is no {@link NAME}. */
const FALLBACK = 'CLAUDE.md'

type Tell = (problem: AgentProblem) => void

/** Returns the instructions, the nearest folder's last. @param tell called for files that cannot be read, or only in part */
export function projectInstructions(cwd: string, tell: Tell = () => undefined): readonly Instructions[] {
  const folders = foldersTo(cwd)
  const found = instructionsIn(folders, NAME, cwd, tell)
  return found.length > 0 ? found : instructionsIn(folders, FALLBACK, cwd, tell)
}

function instructionsIn(folders: readonly string[], name: string, cwd: string, tell: Tell): readonly Instructions[] {
  return folders.flatMap((folder) => {
    const from = join(relative(cwd, folder), name).replaceAll('\\', '/')
    const { text, problem } = readText(folders[0] ?? folder, join(folder, name))
    if (problem !== undefined) tell({ file: from, error: problem })
    if (text === undefined || text.trim() === '') return []
    // The workspace's tools cannot read files above the workspace, so those have no `path`.
    return [{ from, text, ...(folder === cwd && { path: name }) }]
  })
}
