/** Connects to the servers of a mailbox: IMAP for reading and drafts, SMTP for sending. One connection per call. */
import { Readable } from 'node:stream'
import type { ImapFlow } from 'imapflow'
import { AUTH, accountOf, type MailAccount, type MailServer, type MailSettings, mailFault } from './account.ts'
import { imapFault, smtpFault } from './faults.ts'

/** Milliseconds. */
const CONNECT = 15_000
const SILENT = 60_000

export interface MailLogin {
  readonly account: MailAccount
  readonly password: string
}

export interface ImapOptions {
  readonly settings?: MailSettings | undefined
  /** Returns the password for the account; undefined if there is none. Called for each connection. */
  readonly password?: ((account: MailAccount) => Promise<string | undefined>) | undefined
}

/** @throws ToolFailure if something is missing */
export async function loginOf({ settings = {}, password }: ImapOptions): Promise<MailLogin> {
  const account = accountOf(settings)
  const found = await password?.(account)
  if (!found) throw mailFault(`There is no password for ${account.user}. A person has to run: ${AUTH}`)
  return { account, password: found }
}

const tls = { minVersion: 'TLSv1.2' } as const
const secured = ({ host, port, tls: kind }: MailServer) => ({ host, port, secure: kind === 'implicit', tls })

/** Runs commands on a connection of their own. @throws ToolFailure, TransientError, UnknownOutcome */
export async function withImap<T>(
  { account, password }: MailLogin,
  signal: AbortSignal,
  run: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const { ImapFlow } = await import('imapflow')
  const client = new ImapFlow({
    ...secured(account.imap),
    ...(account.imap.tls === 'required' && { doSTARTTLS: true }),
    auth: { user: account.user, pass: password },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: CONNECT,
    greetingTimeout: CONNECT,
    socketTimeout: SILENT,
  })
  // The command that waits is rejected too; without a listener the process would end.
  client.on('error', () => undefined)
  const stop = (): void => client.close()
  signal.addEventListener('abort', stop, { once: true })
  let isConnected = false
  try {
    await client.connect()
    isConnected = true
    const result = await run(client)
    await client.logout().catch(() => undefined)
    return result
  } catch (error) {
    throw signal.aborted ? signal.reason : imapFault(error, account, isConnected)
  } finally {
    signal.removeEventListener('abort', stop)
    client.close()
  }
}

/** Recipients, by address. */
export type Recipients = readonly string[]

/** Opens an SMTP connection and logs in. */
async function openSmtp({ account, password }: MailLogin, signal: AbortSignal) {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection')
  const connection = new SMTPConnection({
    ...secured(account.smtp),
    ...(account.smtp.tls === 'required' && { requireTLS: true }),
    connectionTimeout: CONNECT,
    greetingTimeout: CONNECT,
    socketTimeout: SILENT,
    logger: false,
  })
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => undefined)
  const onAbort = (): void => {
    reject(signal.reason)
    connection.close()
  }
  connection.on('error', reject)
  connection.on('end', () => reject(Object.assign(new Error('closed'), { code: 'ECONNECTION' })))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const step = <R>(start: (done: (error: Error | null | undefined, result?: R) => void) => void): Promise<R> =>
    Promise.race([broken, new Promise<R>((resolve, fail) => start((error, result) => (error ? fail(error) : resolve(result as R))))])
  const close = (): void => {
    signal.removeEventListener('abort', onAbort)
    connection.quit()
    connection.close()
  }
  try {
    await step((done) => connection.connect(done))
    await step((done) => connection.login({ user: account.user, pass: password }, done))
    return { connection, step, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Logs in and out again. @throws ToolFailure, TransientError */
export async function checkSmtp(login: MailLogin, signal: AbortSignal): Promise<void> {
  try {
    ;(await openSmtp(login, signal)).close()
  } catch (error) {
    throw signal.aborted ? error : smtpFault(error, login.account, false)
  }
}

/**
 * Sends a message. Returns the recipients that the server did not accept.
 *
 * @throws UnknownOutcome if the server may have received it
 */
export async function sendBySmtp(login: MailLogin, message: Buffer, to: Recipients, signal: AbortSignal): Promise<readonly string[]> {
  let isSending = false
  const body = Readable.from(
    (function* read() {
      // The library reads the message once the server has asked for it.
      isSending = true
      yield message
    })(),
  )
  try {
    const { connection, step, close } = await openSmtp(login, signal)
    try {
      const { rejected } = await step<{ readonly rejected: readonly string[] }>((done) =>
        connection.send({ from: login.account.address, to: [...to], size: message.length }, body, done as never),
      )
      return rejected
    } finally {
      close()
    }
  } catch (error) {
    throw smtpFault(error, login.account, isSending)
  }
}
