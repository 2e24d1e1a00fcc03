/** Names in the settings that nothing has, told where the settings are looked at and not only when a run trips over them. */

import { oneLine, UsageError } from '@mulligan/host/light'
import { type Agents, chooseAgent, openTools, type Settings, unknownTools } from '@mulligan/host/parts'
import { ownCodeIn } from '../own-code.ts'
import type { Output } from '../ui/output.ts'

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

/** Tools that can't be opened are a fault of the settings too. Those of the folder that were not loaded may have any name. */
async function toolWarnings(cwd: string, { all }: Agents, settings: Settings): Promise<readonly string[]> {
  try {
    const { tools, untrusted } = await openTools(cwd, { env: process.env, settings, around: ownCodeIn(cwd) })
    return untrusted ? [] : unknownTools(all, settings, tools)
  } catch (error) {
    return [saying(error)]
  }
}

function saying(error: unknown): string {
  if (error instanceof UsageError) return error.message
  throw error
}
