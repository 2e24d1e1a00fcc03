/** Reads `AGENTS.md` from each folder between the repository root and the working folder. */
import { join, relative } from 'node:path'
import type { Instructions } from '@mulligan/agent'
import { foldersTo } from '../common/repository.ts'
import type { AgentProblem } from './own.ts'
import { readText } from './read-text.ts'

const NAME = 'AGENTS.md'
/** Read where there is no {@link NAME}. */
const FALLBACK = 'CLAUDE.md'

type Tell = (problem: AgentProblem) => void

/** The nearest last. @param tell of what can't be read, or not in whole */
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
    // What is above the workspace, its tools can't read.
    return [{ from, text, ...(folder === cwd && { path: name }) }]
  })
}
