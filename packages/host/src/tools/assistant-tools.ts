/** The tools of services that are set up: Google and Slack. Their package is loaded only then, and is optional to install. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '@mulligan/assistant'
import type { Tool } from '@mulligan/core'
import type { SessionState } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { dataDir } from '../common/paths.ts'
import { optionalAssistant } from './optional-assistant.ts'

export interface AssistantTools {
  readonly tools: readonly Tool[]
  /** Why tools of services that are set up are missing. */
  readonly problem?: string
}

/** The file with the login for Google. */
export const googleLoginFile = (env: Env): string => join(dataDir(env), 'google.json')

/** Returns the services that are set up. Reads no secret. */
export function servicesIn(env: Env): readonly Service[] {
  const google = existsSync(googleLoginFile(env)) || Boolean(env['GOOGLE_APPLICATION_CREDENTIALS'])
  return [...(google ? (['google'] as const) : []), ...(env['SLACK_BOT_TOKEN'] ? (['slack'] as const) : [])]
}

/** Creates the tools. @param values where page tokens are kept. Default: in memory */
export async function openAssistant(env: Env, values: SessionState | undefined): Promise<AssistantTools> {
  const services = servicesIn(env)
  if (services.length === 0) return { tools: [] }
  const assistant = await optionalAssistant()
  if (!assistant) return { tools: [], problem: `${services.join(' and ')}: the package @mulligan/assistant is not installed` }
  return { tools: assistant.assistantTools({ env, google: googleLoginFile(env), values, services }) }
}
