/** The account of a mailbox that is reached by IMAP and SMTP. */
import { ToolFailure } from '@mulligan/core'

/** As configured: any of it may be missing. */
export interface MailSettings {
  /** `ana@example.com`, or `Ana <ana@example.com>`. */
  readonly address?: string | undefined
  /** The name for the login. Default: the address. */
  readonly user?: string | undefined
  /** `imaps://HOST:993`, or `imap://HOST:143` with STARTTLS. */
  readonly imap?: string | undefined
  /** `smtps://HOST:465`, or `smtp://HOST:587` with STARTTLS. */
  readonly smtp?: string | undefined
}

export interface MailAccount {
  /** With the name, for the header From. */
  readonly from: string
  readonly address: string
  readonly user: string
  readonly imap: MailServer
  readonly smtp: MailServer
}

export interface MailServer {
  readonly host: string
  readonly port: number
  /** `implicit`: from the first byte; `required`: by STARTTLS or not at all; `offered`: only on this machine. */
  readonly tls: 'implicit' | 'required' | 'offered'
}

export const AUTH = 'mulligan auth mail'

export const mailFault = (message: string, setting = AUTH): ToolFailure => new ToolFailure(message, { errorType: 'config', setting })

/** @throws ToolFailure that names the setting that is missing or wrong */
export function accountOf({ address, user, imap, smtp }: MailSettings): MailAccount {
  const from = wanted('mail.address', address, 'ana@example.com').trim()
  const bare = /<([^<>]+)>$/.exec(from)?.[1] ?? from
  if (!/^[^\s@]+@[^\s@]+$/.test(bare)) throw mailFault('mail.address is not an address.', 'mail.address')
  return {
    from,
    address: bare,
    user: user ?? bare,
    imap: serverAt('mail.imap', wanted('mail.imap', imap, 'imaps://imap.example.com'), { imaps: 993, imap: 143 }),
    smtp: serverAt('mail.smtp', wanted('mail.smtp', smtp, 'smtps://smtp.example.com'), { smtps: 465, smtp: 587 }),
  }
}

function wanted(key: string, value: string | undefined, example: string): string {
  if (value) return value
  throw mailFault(`Mail is not set up: ${key} is missing. A person has to run: mulligan config set ${key} ${example}`, key)
}

function serverAt(key: string, url: string, ports: Readonly<Record<string, number>>): MailServer {
  const { protocol = '', hostname = '', port = '' } = URL.parse(url) ?? {}
  const scheme = protocol.replace(':', '')
  const standard = ports[scheme]
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (standard === undefined || host === '')
    throw mailFault(`${key} is not an address such as ${Object.keys(ports)[0]}://mail.example.com.`, key)
  const tls = scheme.endsWith('s') ? 'implicit' : /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host) ? 'offered' : 'required'
  return { host, port: port === '' ? standard : Number(port), tls }
}

/** What a password is for, so that it is not sent to a server that is configured later. */
export const passwordFor = ({ user, imap, smtp }: MailAccount): string => `${user} ${imap.host} ${smtp.host}`
