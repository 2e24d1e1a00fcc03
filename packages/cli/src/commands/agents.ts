/** `mulligan agents` lists the agents and their tools. */

import { oneLine, safeJson } from '@mulligan/host/light'
import { type NamedAgent, readAgents, readSettings } from '@mulligan/host/parts'
import { workingFolder } from '../paths.ts'
import { tellUntrusted } from '../trust.ts'
import type { Output } from '../ui/output.ts'
import { table } from '../ui/table.ts'
import { warnOfNames } from './unknown-names.ts'

export interface AgentsFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** @throws UsageError when a configuration file is wrong */
export async function agentsCommand(flags: AgentsFlags, output: Output): Promise<number> {
  const { out, err } = output
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd, {}, process.env)
  const agents = await readAgents(cwd, settings, process.env)
  const { all, problems } = agents
  await warnOfNames(cwd, settings, agents, output)
  const untrusted = tellUntrusted(cwd, { settings, agents }, output)
  if (flags.json) {
    const listed = all.map(({ origin: _, ...agent }) => ({
      ...agent,
      tools: agent.tools ?? null,
      default: agent.name === settings.agent.value,
    }))
    out(`${safeJson({ agents: listed, problems, ...untrusted })}\n`)
    return 0
  }
  const rows = all.map((agent) => [
    agent.name === settings.agent.value ? `${agent.name} *` : agent.name,
    oneLine(toolsText(agent), 40),
    oneLine(agent.from, 40),
    oneLine(agent.description, 90),
  ])
  out(`${table([['AGENT', 'TOOLS', 'FROM', 'WHAT IT DOES'], ...rows]).join('\n')}\n* is the default\n`)
  for (const { file, error } of problems) err(`Left out: ${oneLine(`${file}: ${error}`, 400)}\n`)
  return 0
}

const toolsText = ({ tools, readOnly }: NamedAgent): string => tools?.join(', ') ?? (readOnly ? 'those that read' : 'all')
