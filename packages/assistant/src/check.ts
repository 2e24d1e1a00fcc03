/** Checks whether the services that are set up can be used: the login is valid, the service answers, the scopes are there. */
import { isMulliganError } from '@mulligan/core/executor'
import { type AssistantOptions, googlePlaces, imapOptions, type Service } from './assistant.ts'
import { googleFault, LOGIN } from './google/client.ts'
import { googleCredentials, googleSource, readLogin, SCOPES } from './google/credentials.ts'
import { checkMail } from './mail/imap/index.ts'
import { slackClient } from './slack/client.ts'

export interface ServiceCheck {
  readonly service: Service
  readonly ok: boolean
  /** What was found, or what is wrong. */
  readonly says: string
  /** The command or setting that repairs it. */
  readonly remedy?: string
}

const BOT_SCOPES = ['channels:history', 'channels:read', 'chat:write', 'groups:history', 'groups:read', 'im:write', 'users:read']

/** Asks each service once. Never throws for a service that can't be used. */
export function checkServices(
  options: AssistantOptions,
  services: readonly Service[],
  signal: AbortSignal,
): Promise<readonly ServiceCheck[]> {
  const checks = { google: checkGoogle, mail: checkImap, slack: checkSlack }
  return Promise.all(
    services.map((service) =>
      checks[service](options, signal).catch((error: unknown): ServiceCheck => {
        const says = isMulliganError(error) ? error.message : signal.aborted ? 'it did not answer in time' : 'it could not be reached'
        return { service, ok: false, says }
      }),
    ),
  )
}

async function checkGoogle(options: AssistantOptions): Promise<ServiceCheck> {
  const places = googlePlaces(options)
  const client = await googleCredentials(places)()
  const { getAccessToken } = client as { readonly getAccessToken?: () => Promise<unknown> }
  await getAccessToken?.call(client).catch((error: unknown) => {
    throw googleFault(error, 'drive')
  })
  const source = googleSource(places)
  if (source?.kind !== 'login') return { service: 'google', ok: true, says: `the credentials in ${source?.file} are valid` }
  const { scopes } = await readLogin(source.file)
  const missing = SCOPES.filter((scope) => !scopes.includes(scope)).map((scope) => scope.split('/').at(-1))
  if (missing.length > 0) return { service: 'google', ok: false, says: `the login lacks ${missing.join(', ')}`, remedy: LOGIN }
  return { service: 'google', ok: true, says: 'the login is valid for Drive, Gmail and Calendar' }
}

async function checkImap(options: AssistantOptions, signal: AbortSignal): Promise<ServiceCheck> {
  return { service: 'mail', ok: true, says: await checkMail(imapOptions(options), signal) }
}

async function checkSlack({ env }: AssistantOptions, signal: AbortSignal): Promise<ServiceCheck> {
  const call = slackClient({ token: env['SLACK_BOT_TOKEN'], url: env['SLACK_API_URL'] })
  const { user, team, response_metadata } = await call(signal, (client) => client.auth.test())
  const has = response_metadata?.scopes
  const missing = has === undefined ? [] : BOT_SCOPES.filter((scope) => !has.includes(scope))
  if (missing.length > 0)
    return {
      service: 'slack',
      ok: false,
      says: `the token lacks ${missing.join(', ')}`,
      remedy: 'Add them under "OAuth & Permissions" of the app, and install it again.',
    }
  return { service: 'slack', ok: true, says: `@${user} in ${team}` }
}
