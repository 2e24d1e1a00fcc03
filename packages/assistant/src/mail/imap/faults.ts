/** Turns errors of the mail libraries into those of the contract. */
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import type { ImapFlowError } from 'imapflow'
import { UnknownOutcome } from '../../common/once.ts'
import { oneLine } from '../../common/text.ts'
import { AUTH, type MailAccount, type MailServer, mailFault } from './account.ts'

const NOT_FOUND = /^(?:ENOTFOUND|EAI_AGAIN|EDNS)$/
const CERTIFICATE = /CERT|SIGNATURE|ALTNAME|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL/
const LATER = /^(?:UNAVAILABLE|INUSE|SERVERBUG|LIMIT|THROTTLED)$/

const shown = ({ host, port }: MailServer): string => `${host}:${port}`
const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | undefined)?.code ?? '')
const isOurs = (error: unknown): boolean => error instanceof ModelRetry || error instanceof ToolFailure || error instanceof TransientError

export const notAccepted = ({ user }: MailAccount, server: MailServer): ToolFailure =>
  mailFault(`${shown(server)} does not accept the password for ${user}. A person has to run: ${AUTH}`)

const noEncryption = (server: MailServer, why: string, key: string): ToolFailure =>
  mailFault(`No secure connection to ${shown(server)} (${why}). A person has to check ${key}.`, key)

/** @param isConnected whether commands may have been carried out */
export function imapFault(error: unknown, account: MailAccount, isConnected: boolean): unknown {
  if (isOurs(error)) return error
  const { authenticationFailed, tlsFailed, serverResponseCode = '', responseText = '', responseStatus } = error as ImapFlowError
  const code = codeOf(error)
  const server = account.imap
  if (LATER.test(serverResponseCode) || code === 'ETHROTTLE')
    return new TransientError(`${shown(server)} answered ${serverResponseCode || 'THROTTLED'}: try later.`, {
      ...((code === 'ETHROTTLE' || /LIMIT|THROTTLED/.test(serverResponseCode)) && { errorType: 'rate_limited' }),
    })
  if (authenticationFailed) return notAccepted(account, server)
  if (tlsFailed || CERTIFICATE.test(code)) return noEncryption(server, code || 'STARTTLS failed', 'mail.imap')
  if (responseStatus === 'NO' || responseStatus === 'BAD')
    return new ToolFailure(`The mail server refuses: ${oneLine(responseText, 200) || serverResponseCode || responseStatus}`)
  if (code === '' && !isConnected) return error
  if (!isConnected || NOT_FOUND.test(code)) return new TransientError(`${shown(server)} cannot be reached (${code}).`)
  return new UnknownOutcome(`The connection to ${shown(server)} broke${code && ` (${code})`}.`)
}

/** What `nodemailer` adds to its errors. */
interface SmtpError {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
}

/** @param isSending whether the server may have received the message */
export function smtpFault(error: unknown, account: MailAccount, isSending: boolean): unknown {
  if (isOurs(error)) return error
  const { code = '', responseCode, response = '' } = error as SmtpError
  const server = account.smtp
  if (responseCode !== undefined && responseCode >= 400) {
    const said = `${shown(server)} answered ${oneLine(response, 200) || responseCode}`
    if (responseCode < 500)
      return new TransientError(`${said}. The message was not sent.`, {
        ...(/\b(?:rate|too many|limit|throttl)/i.test(response) && { errorType: 'rate_limited' }),
      })
    if (code === 'EAUTH') return notAccepted(account, server)
    return new ToolFailure(`The mail server refuses the message: ${said}`)
  }
  if (isSending) return new UnknownOutcome(`The connection to ${shown(server)} broke (${code || 'closed'}).`)
  if (code === 'EAUTH') return notAccepted(account, server)
  if (code === 'ETLS' || CERTIFICATE.test(code) || CERTIFICATE.test(codeOf((error as Error).cause)))
    return noEncryption(server, code, 'mail.smtp')
  return new TransientError(`${shown(server)} cannot be reached (${code || 'closed'}). The message was not sent.`)
}
