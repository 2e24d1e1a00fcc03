/** `mulligan agents` lists the agents and their tools, and warns about unknown names in the settings. */
import { oneLine, UsageError } from '@mulligan/host/light'
import {
  type Agents,
  chooseAgent,
  type NamedAgent,
  openTools,
  readAgents,
  readSettings,
  type Settings,
  unknownTools,
} from '@mulligan/host/parts'
import { workingFolder } from '../paths.ts'
import { ownCodeIn } from '../process.ts'
import { tellUntrusted } from '../trust.ts'
import type { Output } from '../ui/output.ts'
import { type FolderFlags, print, table } from '../ui/text.ts'

/** @throws UsageError if a configuration file is invalid */
export async function agentsCommand(flags: FolderFlags, output: Output): Promise<number> {
  const { err } = output
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd, {}, process.env)
  const agents = await readAgents(cwd, settings, process.env)
  const { all, problems } = agents
  await warnOfNames(cwd, settings, agents, output)
  const untrusted = tellUntrusted(cwd, { settings, agents }, output)
  const isDefault = ({ name }: NamedAgent): boolean => name === settings.agent.value
  const listed = all.map(({ origin: _, ...agent }) => ({
    ...agent,
    tools: agent.tools ?? null,
    default: agent.name === settings.agent.value,
  }))
  const rows = all.map((agent) => [
    isDefault(agent) ? `${agent.name} *` : agent.name,
    oneLine(toolsText(agent), 40),
    oneLine(agent.from, 40),
    oneLine(agent.description, 90),
  ])
  const lines = table([['AGENT', 'TOOLS', 'FROM', 'WHAT IT DOES'], ...rows])
  print(output, flags.json, { agents: listed, problems, ...untrusted }, [...lines, '* is the default'])
  if (!flags.json) for (const { file, error } of problems) err(`Left out: ${oneLine(`${file}: ${error}`, 400)}\n`)
  return 0
}

const toolsText = ({ tools, readOnly }: NamedAgent): string => tools?.join(', ') ?? (readOnly ? 'those that read' : 'all')

export async function warnOfNames(cwd: string, settings: Settings, agents: Agents, { err }: Output): Promise<void> {
  for (const warning of [...agentWarning(agents, settings), ...(await toolWarnings(cwd, agents, settings))])
    err(`Warning: ${oneLine(warning, 400)}\n`)
}

function agentWarning(agents: Agents, { agent }: Settings): readonly string[] {
  try {
    chooseAgent(agents, agent)
    return []
  } catch (error) {
    return [saying(error)]
  }
}

/**
 * Returns warnings about tools. Tools that cannot be opened are a configuration error too. Names of a folder's tools that were not loaded
 * cannot be checked.
 */
async function toolWarnings(cwd: string, { all }: Agents, settings: Settings): Promise<readonly string[]> {
  try {
    await using opened = await openTools(cwd, { env: process.env, settings, around: ownCodeIn(cwd) })
    await opened.ready()
    const { tools, untrusted } = opened
    return untrusted ? [] : unknownTools(all, settings, tools)
  } catch (error) {
    return [saying(error)]
  }
}

function saying(error: unknown): string {
  if (error instanceof UsageError) return error.message
  throw error
}
