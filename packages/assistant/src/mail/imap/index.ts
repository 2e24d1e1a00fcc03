/** Mail by IMAP and SMTP. */
import type { Tool } from '@mulligan/core'
import { memoryValues, type SessionValues } from '../../common/pages.ts'
import { mailTools } from '../tools.ts'
import { checkSmtp, type ImapOptions, loginOf, withImap } from './connect.ts'
import { foldersOf } from './folders.ts'
import { imapMailbox } from './mailbox.ts'

export { accountOf, type MailAccount, type MailSettings } from './account.ts'
export type { ImapOptions } from './connect.ts'
export { mailPassword, type PasswordPlaces, removePassword, savePassword } from './password.ts'

/** Creates the mail tools for a mailbox with IMAP and SMTP. It is first contacted by a call. @param values where drafts' states are kept. Default: in memory */
export const imapTools = (options: ImapOptions = {}, values: SessionValues = memoryValues()): Tool[] =>
  mailTools(imapMailbox(options, values), values)

/** Logs in to both servers, and looks for the folders that are needed. @throws ToolFailure, TransientError */
export async function checkMail(options: ImapOptions, signal: AbortSignal): Promise<string> {
  const login = await loginOf(options)
  await withImap(login, signal, async (client) => {
    const { drafts, sent } = await foldersOf(client)
    return [drafts, sent]
  })
  await checkSmtp(login, signal)
  return `${login.account.address} on ${login.account.imap.host} and ${login.account.smtp.host}`
}
