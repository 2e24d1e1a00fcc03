/** The tools of the services that are set up on this machine. */
import type { Tool } from '@mulligan/core'
import { memoryValues, type SessionValues } from './common/pages.ts'
import { type CredentialPlaces, type GoogleEndpoints, googleCredentials } from './google/credentials.ts'
import { googleTools } from './google/index.ts'
import { type ImapOptions, imapTools, type MailSettings, mailPassword } from './mail/imap/index.ts'
import { slackTools } from './slack/index.ts'

/** Variables that name a service's tokens and addresses. The addresses are for proxies and stand-ins. */
type Env = Readonly<Record<string, string | undefined>>

export interface AssistantOptions {
  readonly env: Env
  /** The file with the login for Google. */
  readonly google: string
  /** The account of mail by IMAP and SMTP, and the file with its password. Its tools replace those of Gmail. */
  readonly mail?: { readonly settings: MailSettings; readonly file: string } | undefined
  /** Where page tokens are kept. Default: in memory */
  readonly values?: SessionValues | undefined
  /** The services whose tools are wanted. Default: those that are set up. */
  readonly services?: readonly Service[] | undefined
}

export type Service = 'google' | 'mail' | 'slack'

export const googlePlaces = ({ env, google }: Pick<AssistantOptions, 'env' | 'google'>): CredentialPlaces => ({
  file: google,
  env,
  endpoints: endpointsAt(env['GOOGLE_API_URL']),
})

/** Addresses of another authorization server: those of a stand-in for Google. */
function endpointsAt(url: string | undefined): GoogleEndpoints | undefined {
  if (!url) return undefined
  const at = (path: string): string => new URL(path, url).href
  return { oauth2AuthBaseUrl: at('/auth'), oauth2TokenUrl: at('/token'), oauth2RevokeUrl: at('/revoke') }
}

export const imapOptions = ({ env, mail }: Pick<AssistantOptions, 'env' | 'mail'>): ImapOptions => ({
  settings: mail?.settings,
  password: async (account) => mailPassword({ env, file: mail?.file ?? '' }, account),
})

/** Creates the tools. No service is contacted before a call. */
export function assistantTools({
  env,
  google,
  mail,
  values = memoryValues(),
  services = ['google', 'slack'],
}: AssistantOptions): readonly Tool[] {
  const create: Readonly<Record<Service, () => readonly Tool[]>> = {
    google: () => {
      const auth = googleCredentials(googlePlaces({ env, google }))
      return googleTools({ auth, rootUrl: env['GOOGLE_API_URL'], mail: !services.includes('mail') }, values)
    },
    mail: () => imapTools(imapOptions({ env, mail }), values),
    slack: () => slackTools({ token: env['SLACK_BOT_TOKEN'], url: env['SLACK_API_URL'] }, values),
  }
  return services.flatMap((service) => create[service]())
}
