/** `mulligan agents`: which there are, and what each may do. */
import { type NamedAgent, readAgents } from '../agents/agents.ts'
import { warnOfNames } from '../agents/warn.ts'
import { readSettings } from '../config/settings.ts'
import { workingFolder } from '../paths.ts'
import { tellUntrusted } from '../trust/settle.ts'
import type { Output } from '../ui/output.ts'
import { oneLine, safeJson } from '../ui/sanitize.ts'
import { table } from '../ui/table.ts'

export interface AgentsFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** @throws UsageError when a configuration file is wrong */
export async function agentsCommand(flags: AgentsFlags, output: Output): Promise<number> {
  const { out, err } = output
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd)
  const agents = await readAgents(cwd, settings)
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
  out(`${table([['AGENT', 'TOOLS', 'FROM', 'WHAT IT DOES'], ...rows]).join('\n')}\n* is taken without --agent\n`)
  for (const { file, error } of problems) err(`Left out: ${oneLine(`${file}: ${error}`, 400)}\n`)
  return 0
}

const toolsText = ({ tools, readOnly }: NamedAgent): string => tools?.join(', ') ?? (readOnly ? 'those that read' : 'all')
