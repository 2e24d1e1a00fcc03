/** Skills: texts that the model reads when it needs them. They are in `.mulligan/skills/NAME/SKILL.md`. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Skill } from '@mulligan/agent'
import { z } from 'zod'
import { oneLine } from '../common/sanitize.ts'
import { checkWith } from '../config/check.ts'
import { frontMatter } from './front-matter.ts'
import type { AgentProblem } from './own.ts'
import { readText } from './read-text.ts'

const FOLDER = join('.mulligan', 'skills')
const MOST = 100
const fields = () => z.looseObject({ name: z.string().min(1).max(64), description: z.string().min(1) })

export async function projectSkills(
  cwd: string,
): Promise<{ readonly skills: readonly Skill[]; readonly problems: readonly AgentProblem[] }> {
  const skills: Skill[] = []
  const problems: AgentProblem[] = []
  for (const folder of foldersIn(join(cwd, FOLDER)).slice(0, MOST)) {
    const file = ['.mulligan', 'skills', folder, 'SKILL.md'].join('/')
    const { text, problem } = readText(cwd, join(cwd, FOLDER, folder, 'SKILL.md'))
    if (problem !== undefined) problems.push({ file, error: problem })
    if (text === undefined) continue
    try {
      const checked = checkWith(fields(), (await frontMatter(text)).fields)
      if (!checked.ok) throw new Error(`front matter: ${checked.error}`)
      const { name, description } = checked.value
      skills.push({ name: oneLine(name, 64), description: oneLine(description, 200), path: file })
    } catch (error) {
      problems.push({ file, error: oneLine((error as Error).message, 300) })
    }
  }
  return { skills, problems }
}

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
  } catch {
    return []
  }
}
