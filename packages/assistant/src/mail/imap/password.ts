/** The password of a mailbox: from the environment, otherwise from a file that only its owner can read. */
import { chmod, readFile, rm, stat } from 'node:fs/promises'
import { writeSecret } from '../../common/secret-file.ts'
import { type MailAccount, mailFault, passwordFor } from './account.ts'

export const PASSWORD = 'MAIL_PASSWORD'

export interface PasswordPlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file: string
}

interface Stored {
  /** The login that it is for. */
  readonly for: string
  readonly password: string
}

/** Returns undefined if there is none for this account. @throws ToolFailure if the file is damaged */
export async function mailPassword({ env, file }: PasswordPlaces, account: MailAccount): Promise<string | undefined> {
  const given = env[PASSWORD]
  if (given) return given
  const stored = await readStored(file)
  return stored?.for === passwordFor(account) ? stored.password : undefined
}

export const savePassword = (file: string, account: MailAccount, password: string): Promise<void> =>
  writeSecret(file, { for: passwordFor(account), password } satisfies Stored)

/** Returns whether there was one. */
export async function removePassword(file: string): Promise<boolean> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  )
  await rm(file, { force: true })
  return isThere
}

async function readStored(file: string): Promise<Stored | undefined> {
  let text: string
  try {
    // A file that others can read has been copied or restored.
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw mailFault("The stored password for mail can't be read. A person has to run: mulligan auth mail")
  }
  try {
    const { for: account, password } = JSON.parse(text) as Partial<Stored>
    if (typeof account === 'string' && typeof password === 'string') return { for: account, password }
  } catch {
    // reported below
  }
  throw mailFault('The stored password for mail is damaged. A person has to run: mulligan auth mail')
}
