/** `mulligan auth status`: which services are set up. No service is contacted. */
import { existsSync, readFileSync } from 'node:fs'
import { oneLine } from '@mulligan/host/light'
import { googleLoginFile, mailPasswordFile, readSettings, type Settings } from '@mulligan/host/parts'
import { fromHome, workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import type { Output } from '../../ui/output.ts'
import { print, table } from '../../ui/text.ts'

export interface ServiceStatus {
  readonly service: 'google' | 'mail' | 'slack'
  readonly configured: boolean
  /** What it is set up with, or the way to set it up. */
  readonly says: string
}

export function serviceStatus(
  { mail }: Pick<Settings, 'mail'>,
  env: Readonly<Record<string, string | undefined>>,
): readonly ServiceStatus[] {
  const login = googleLoginFile(env)
  const key = env['GOOGLE_APPLICATION_CREDENTIALS']
  const google = existsSync(login) ? `login in ${placeOf(login)}` : key ? `GOOGLE_APPLICATION_CREDENTIALS=${oneLine(key, 200)}` : undefined
  return [
    { service: 'google', configured: google !== undefined, says: google ?? 'mulligan auth google' },
    mailStatus(mail, env),
    env['SLACK_BOT_TOKEN']
      ? { service: 'slack', configured: true, says: 'SLACK_BOT_TOKEN is set' }
      : { service: 'slack', configured: false, says: 'export SLACK_BOT_TOKEN=xoxb-…' },
  ]
}

/** Where the secret is, as the file of a login says. */
function placeOf(file: string): string {
  try {
    const { keychain } = JSON.parse(readFileSync(file, 'utf8')) as { readonly keychain?: unknown }
    return keychain === true ? 'the keychain' : fromHome(file)
  } catch {
    return `${fromHome(file)}, which can't be read`
  }
}

function mailStatus({ address, imap, smtp }: Settings['mail'], env: Readonly<Record<string, string | undefined>>): ServiceStatus {
  if (!address && !imap && !smtp) return { service: 'mail', configured: false, says: 'mulligan auth mail' }
  const lacking = Object.entries({ 'mail.address': address, 'mail.imap': imap, 'mail.smtp': smtp }).find(([, setting]) => !setting)?.[0]
  if (lacking !== undefined) return { service: 'mail', configured: false, says: `mulligan config set ${lacking} …` }
  const file = mailPasswordFile(env)
  const by = env['MAIL_PASSWORD'] ? 'MAIL_PASSWORD is set' : existsSync(file) ? `password in ${placeOf(file)}` : undefined
  return {
    service: 'mail',
    configured: by !== undefined,
    says: by === undefined ? 'mulligan auth mail' : `${oneLine(address?.value ?? '', 80)}, ${by}`,
  }
}

export async function statusCommand({ json }: { readonly json?: boolean }, output: Output): Promise<number> {
  const services = serviceStatus(readSettings(workingFolder(undefined), {}, process.env), process.env)
  const rows = services.map(({ service, configured, says }) => [service, configured ? 'set up' : 'not set up', says])
  print(output, json, { services }, table(rows))
  return EXIT.ok
}
