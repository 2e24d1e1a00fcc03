/** `mulligan auth status`: which services are set up. No service is contacted. */
import { existsSync } from 'node:fs'
import { oneLine } from '@mulligan/host/light'
import { googleLoginFile } from '@mulligan/host/parts'
import { fromHome } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import type { Output } from '../../ui/output.ts'
import { print, table } from '../../ui/text.ts'

export interface ServiceStatus {
  readonly service: 'google' | 'slack'
  readonly configured: boolean
  /** What it is set up with, or the way to set it up. */
  readonly says: string
}

export function serviceStatus(env: Readonly<Record<string, string | undefined>>): readonly ServiceStatus[] {
  const login = googleLoginFile(env)
  const key = env['GOOGLE_APPLICATION_CREDENTIALS']
  const google = existsSync(login) ? `login in ${fromHome(login)}` : key ? `GOOGLE_APPLICATION_CREDENTIALS=${oneLine(key, 200)}` : undefined
  return [
    { service: 'google', configured: google !== undefined, says: google ?? 'mulligan auth google' },
    env['SLACK_BOT_TOKEN']
      ? { service: 'slack', configured: true, says: 'SLACK_BOT_TOKEN is set' }
      : { service: 'slack', configured: false, says: 'export SLACK_BOT_TOKEN=xoxb-…' },
  ]
}

export async function statusCommand({ json }: { readonly json?: boolean }, output: Output): Promise<number> {
  const services = serviceStatus(process.env)
  const rows = services.map(({ service, configured, says }) => [service, configured ? 'set up' : 'not set up', says])
  print(output, json, { services }, table(rows))
  return EXIT.ok
}
