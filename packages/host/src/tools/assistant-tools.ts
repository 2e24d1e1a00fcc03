/** The tools of services that are set up: Google, mail and Slack. Their package is loaded only then, and is optional to install. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AssistantOptions, Service } from '@mulligan/assistant'
import type { Tool } from '@mulligan/core'
import type { SessionState } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { dataDir } from '../common/paths.ts'
import type { Settings } from '../config/settings.ts'
import { optionalAssistant } from './optional-assistant.ts'

export interface AssistantTools {
  readonly tools: readonly Tool[]
  /** Why tools of services that are set up are missing. */
  readonly problem?: string
}

/** The file with the login for Google. */
export const googleLoginFile = (env: Env): string => join(dataDir(env), 'google.json')

/** The file with the password for mail. */
export const mailPasswordFile = (env: Env): string => join(dataDir(env), 'mail.json')

/** Returns the services that are set up, at least in part. Reads no secret. */
export function servicesIn({ mail }: Pick<Settings, 'mail'>, env: Env): readonly Service[] {
  const isSetUp: Readonly<Record<Service, boolean>> = {
    google: existsSync(googleLoginFile(env)) || Boolean(env['GOOGLE_APPLICATION_CREDENTIALS']),
    mail: Object.values(mail).some((setting) => setting !== undefined),
    slack: Boolean(env['SLACK_BOT_TOKEN']),
  }
  return (Object.keys(isSetUp) as Service[]).filter((service) => isSetUp[service])
}

/** Where the services' logins and settings are. */
export const assistantOptions = ({ mail }: Pick<Settings, 'mail'>, env: Env): AssistantOptions => ({
  env,
  google: googleLoginFile(env),
  mail: {
    settings: { address: mail.address?.value, user: mail.user?.value, imap: mail.imap?.value, smtp: mail.smtp?.value },
    file: mailPasswordFile(env),
  },
})

/** Creates the tools. @param values where page tokens are kept. Default: in memory */
export async function openAssistant(settings: Pick<Settings, 'mail'>, env: Env, values: SessionState | undefined): Promise<AssistantTools> {
  const services = servicesIn(settings, env)
  if (services.length === 0) return { tools: [] }
  const assistant = await optionalAssistant()
  if (!assistant) return { tools: [], problem: `${services.join(' and ')}: the package @mulligan/assistant is not installed` }
  return { tools: assistant.assistantTools({ ...assistantOptions(settings, env), values, services }) }
}
