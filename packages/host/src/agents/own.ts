/** User-defined agents, from the configuration and from Markdown files whose text is the prompt. */
import { join } from 'node:path'
import type { Env } from '../common/env.ts'
import { fromHome } from '../common/paths.ts'
import type { Origin } from '../common/setting.ts'
import { admit, type Withheld } from '../config/admit.ts'
import { checkWith } from '../config/check.ts'
import { ownPath } from '../config/places.ts'
import { agentFields } from '../config/schema.ts'
import type { ConfiguredAgent, Settings } from '../config/settings.ts'
import { type FileProblem, markdownFiles } from './markdown-files.ts'

export type AgentProblem = FileProblem

const NAME = /^[\w-]{1,40}$/

/**
 * Reads the user-defined agents. The user's come first: a project's agent cannot take the name of one. `withheld` lists models that wait
 * for the user's approval.
 */
export async function ownAgents(cwd: string, { agents, word }: Settings, env: Env, reserved: readonly string[]) {
  const personal = ownPath('agents', env)
  const read = [
    ...(personal === undefined ? [] : await filesIn(personal, 'user', fromHome(personal, env))),
    ...(await filesIn(join(cwd, '.mulligan', 'agents'), 'project', join('.mulligan', 'agents'), cwd)),
  ]
  const found = [...agents.map((agent) => ({ file: agent.from, agent })), ...read.filter((one) => 'agent' in one)].sort(
    (a, b) => Number(a.agent.origin === 'project') - Number(b.agent.origin === 'project'),
  )
  const kept = new Map<string, ConfiguredAgent>()
  const problems: AgentProblem[] = read.filter((one) => 'error' in one)
  for (const { file, agent } of found) {
    const other = reserved.includes(agent.name) ? 'the built-in one' : kept.get(agent.name)?.from
    if (other === undefined) kept.set(agent.name, agent)
    else
      problems.push({
        file,
        error: `the agent name "${agent.name}" is already used by ${other === 'the built-in one' ? 'a built-in agent' : `the one in ${other}`}`,
      })
  }
  const counting = [...kept.values()].map((agent) => countingOf(agent, word))
  return { agents: counting.map(({ agent }) => agent), problems, withheld: counting.flatMap(({ withheld }) => withheld) }
}

/** Filters a project's agent by the rules for its keys, because a file's front matter has not been filtered yet. */
function countingOf(
  agent: ConfiguredAgent,
  word: Settings['word'],
): { readonly agent: ConfiguredAgent; readonly withheld: readonly Withheld[] } {
  const { name, origin, from, ...fields } = agent
  if (origin !== 'project') return { agent, withheld: [] }
  const { values, withheld } = admit({ agents: { [name]: fields } }, from, word)
  return { agent: { ...values.agents?.[name], name, origin, from }, withheld }
}

type Read = { readonly file: string; readonly agent: ConfiguredAgent } | AgentProblem

const filesIn = (folder: string, origin: Origin, shown: string, root?: string): Promise<readonly Read[]> =>
  markdownFiles(folder, shown, root, ({ name, file, fields, body }) => {
    if (!NAME.test(name)) throw new Error('its name must consist of letters, digits, _ and -')
    const checked = checkWith(agentFields(), { ...fields, ...toolsList(fields['tools']) })
    if (!checked.ok) throw new Error(checked.error)
    return { file, agent: { ...checked.value, prompt: body, name, origin, from: file } }
  })

/** Turns `tools: read_file, grep`, a string in YAML, into a list. */
const toolsList = (tools: unknown): { readonly tools?: readonly string[] } =>
  typeof tools === 'string' ? { tools: tools.split(/[\s,]+/).filter((name) => name !== '') } : {}
