/** Resolves an agent, built-in or user-defined, into instructions for the engine. */
import type { Role } from '@mulligan/agent'
import { rulesPolicy, type Tool } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { oneLine } from '../common/sanitize.ts'
import type { Setting } from '../common/setting.ts'
import type { Withheld } from '../config/admit.ts'
import type { Settings } from '../config/settings.ts'
import { BUILT_IN_AGENTS, type NamedAgent } from './built-in.ts'
import { type AgentProblem, ownAgents } from './own.ts'

export interface Agents {
  readonly all: readonly NamedAgent[]
  readonly problems: readonly AgentProblem[]
  /** Models of the project's agents that wait for the user's approval. */
  readonly withheld: readonly Withheld[]
}

export async function readAgents(cwd: string, settings: Settings, env: Env): Promise<Agents> {
  const { agents, problems, withheld } = await ownAgents(
    cwd,
    settings,
    env,
    BUILT_IN_AGENTS.map(({ name }) => name),
  )
  const own = agents.map(
    ({ prompt = '', description, name, tools, model, origin, from }): NamedAgent => ({
      name,
      description: description ?? oneLine(prompt, 80),
      prompt,
      ...(tools && { tools }),
      ...(model !== undefined && { model }),
      origin,
      from,
    }),
  )
  return { all: [...BUILT_IN_AGENTS, ...own], problems, withheld }
}

/** Finds an agent by name. @throws UsageError if there is no such agent */
export function chooseAgent({ all, problems }: Agents, { value, origin, from }: Setting<string>): NamedAgent {
  const found = all.find(({ name }) => name === value)
  if (found) return found
  const names = all.map(({ name }) => name)
  const [near] = nearest(value, names, 1)
  const broken = problems.find(({ file }) => file.endsWith(`${value}.md`))
  const where = origin === 'flag' ? '' : `${from}: `
  throw new UsageError(
    broken
      ? `${broken.file}: ${broken.error}`
      : `${where}there is no agent ${JSON.stringify(oneLine(value, 64))}${near ? `; did you mean ${near}?` : ''}`,
    `The agents are ${names.join(', ')}; mulligan agents shows them.`,
  )
}

/** Returns the agent's role, which the engine enforces. */
export function roleOf({ name, prompt, tools, readOnly }: NamedAgent, off: Settings['off']): Role {
  const has =
    tools &&
    rulesPolicy(
      tools.map((tool) => ({ tool, decision: 'allow' })),
      () => ({ decision: 'deny', reason: '' }),
    )
  return {
    name,
    prompt,
    withholds: ({ name: tool, effect }: Tool) => {
      const without = off.find((one) => one.value === tool)
      if (without) return `${tool} is switched off in ${without.from}.`
      if (readOnly && effect !== 'read') return `The agent "${name}" has only tools that read; ${tool} is not one.`
      const listed = has?.({ tool, effect, input: {}, target: '' }).decision !== 'deny'
      return listed ? undefined : `The agent "${name}" does not have the tool ${tool}.`
    },
  }
}

/** Returns one line for each name in the settings that is not a tool. The settings around the name still apply. */
export function unknownTools(agents: readonly NamedAgent[], { off, lean, approval }: Settings, tools: readonly Tool[]): readonly string[] {
  const names = tools.map(({ name }) => name)
  const asked = [
    ...agents.flatMap(({ name, tools = [] }) => tools.map((value) => ({ value, of: `agent ${name}`, more: ' It runs without it.' }))),
    ...off.map(({ value, from }) => ({ value, of: `${from}: tools.off`, more: '' })),
    ...(lean?.value ?? []).map((value) => ({ value, of: `${lean?.from}: tools.lean`, more: '' })),
    ...[...new Set([...approval.rules, ...approval.projectRules])].flatMap(({ value: { tool, decision }, from }) =>
      tool === undefined ? [] : [{ value: tool, of: `${from}: policy`, more: ` The rule (${decision}) matches nothing.` }],
    ),
  ]
  return asked
    .filter(({ value }) => !value.includes('*') && !names.includes(value))
    .map(({ value, of, more }) => {
      const near = tools.find(({ aliases }) => aliases.some(({ name }) => name === value))?.name ?? nearest(value, names, 1)[0]
      return oneLine(`${of}: there is no tool ${JSON.stringify(value)}${near ? `; did you mean ${near}?` : '.'}${more}`, 300)
    })
}
