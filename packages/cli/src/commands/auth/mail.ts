/** `mulligan auth mail` and `mulligan auth logout mail`: mail by IMAP and SMTP. */
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { MailSettings } from '@mulligan/assistant'
import { oneLine, UsageError } from '@mulligan/host/light'
import { assistantOptions, mailPasswordFile, readSettings } from '@mulligan/host/parts'
import { fromHome, openDataDir, workingFolder } from '../../paths.ts'
import { EXIT, watchInterrupts } from '../../process.ts'
import { askHidden, askInTerminal, isAttendedFor } from '../../ui/ask.ts'
import type { Output } from '../../ui/output.ts'
import { print } from '../../ui/text.ts'
import { setValue } from '../config/edit.ts'
import { assistant } from './assistant.ts'

export interface MailFlags {
  readonly address?: string
  readonly user?: string
  readonly imap?: string
  readonly smtp?: string
  /** `-` is stdin. */
  readonly passwordFile?: string
  readonly keychain?: boolean
  readonly json?: boolean
}

/** Seconds for both servers. */
const PATIENCE = 30

const QUESTIONS = {
  address: 'Your address: ',
  imap: 'The server for reading (such as imaps://imap.example.com): ',
  smtp: 'The server for sending (such as smtps://smtp.example.com): ',
} as const

/** Checks the account at both servers, and stores it. @throws UsageError if something is missing */
export async function mailCommand(flags: MailFlags, output: Output): Promise<number> {
  const { accountOf, checkMail, savePassword } = await assistant()
  openDataDir()
  const interrupt = watchInterrupts(() => undefined)
  try {
    const settings = await settingsFor(flags, interrupt)
    const account = accountOf(settings)
    const password = await passwordFor(flags, account.user, interrupt)
    const says = await checkMail(
      { settings, password: async () => password },
      AbortSignal.any([interrupt.signal, AbortSignal.timeout(PATIENCE * 1000)]),
    )
    for (const key of ['address', 'user', 'imap', 'smtp'] as const) {
      const value = flags[key] ?? (key === 'user' ? undefined : settings[key])
      if (value !== undefined) await setValue(['mail', key], value, {})
    }
    const file = mailPasswordFile(process.env)
    const place = await savePassword(file, account, password, { keychain: flags.keychain })
    print(output, flags.json, { service: 'mail', address: account.address, file, place }, [
      `Mail is set up: ${oneLine(says, 200)}. The password is in ${place === 'keychain' ? 'the keychain' : fromHome(file)}.`,
      'mulligan auth logout mail removes it.',
    ])
    return EXIT.ok
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (interrupt.signal.aborted) return EXIT.cancelled
    const why = (error as Error).name === 'TimeoutError' ? `no answer in ${PATIENCE} s` : (error as Error).message
    output.err(`mulligan: mail is not set up, nothing was stored: ${oneLine(why, 400)}\n`)
    return EXIT.failed
  } finally {
    interrupt.dispose()
  }
}

type Interrupt = ReturnType<typeof watchInterrupts>

/** The flags, then what is configured, then what the person answers. */
async function settingsFor(flags: MailFlags, { signal, trigger }: Interrupt): Promise<MailSettings> {
  const { mail } = assistantOptions(readSettings(workingFolder(undefined), {}, process.env), process.env)
  const settings: Record<'address' | 'imap' | 'smtp', string | undefined> = {
    address: flags.address ?? mail?.settings.address,
    imap: flags.imap ?? mail?.settings.imap,
    smtp: flags.smtp ?? mail?.settings.smtp,
  }
  for (const key of ['address', 'imap', 'smtp'] as const) {
    settings[key] ??= isAttendedFor(flags) ? (await askInTerminal(trigger)(QUESTIONS[key], signal))?.trim() : undefined
    if (!settings[key]) throw new UsageError(`mail.${key} is not set`, `Set it: mulligan auth mail --${key} …`)
  }
  return { ...settings, user: flags.user ?? mail?.settings.user }
}

async function passwordFor({ passwordFile, json }: MailFlags, user: string, { signal, trigger }: Interrupt): Promise<string> {
  if (passwordFile !== undefined) {
    const given = passwordFile === '-' ? await text(process.stdin) : read(passwordFile)
    const line = given.replace(/\r?\n[\s\S]*$/, '')
    if (line !== '') return line
    throw new UsageError('the password is empty', 'The first line of the file must be the password.')
  }
  if (!isAttendedFor({ ...(json !== undefined && { json }) }))
    throw new UsageError('nobody is there to enter the password', 'mulligan auth mail --password-file FILE, or - for stdin')
  const password = await askHidden(trigger)(
    `The password for ${oneLine(user, 80)} (for Gmail, iCloud and others an app password): `,
    signal,
  )
  if (!password) throw new UsageError('no password was given', 'Nothing was stored.')
  return password
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${oneLine(file, 300)} can't be read: ${(error as NodeJS.ErrnoException).code}`, 'Name a file with the password.')
  }
}

/** Removes the password; the settings stay. @returns 1 if there was none */
export async function mailLogout({ json }: { readonly json?: boolean }, output: Output): Promise<number> {
  const { removePassword } = await assistant()
  const loggedOut = await removePassword(mailPasswordFile(process.env))
  print(output, json, { service: 'mail', loggedOut }, [loggedOut ? 'The password was removed.' : 'There is no password for mail.'])
  return loggedOut ? EXIT.ok : EXIT.failed
}
