/** The password of a mailbox: from the environment, otherwise the stored one. */
import { readStored, removeLogin, type SecretOptions, type SecretPlace, saveLogin } from '../../common/secrets.ts'
import { AUTH, type MailAccount, mailFault, passwordFor } from './account.ts'

export const PASSWORD = 'MAIL_PASSWORD'

export interface PasswordPlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file: string
}

/** Returns undefined if there is none for this account. @throws ToolFailure if what is stored can't be used */
export async function mailPassword({ env, file }: PasswordPlaces, account: MailAccount): Promise<string | undefined> {
  const given = env[PASSWORD]
  if (given) return given
  const stored = await readStored(file, 'password').catch(() => {
    throw mailFault(`The stored password for mail can't be read. A person has to run: ${AUTH}`)
  })
  const { for: login, password } = stored ?? {}
  return login === passwordFor(account) && typeof password === 'string' ? password : undefined
}

export const savePassword = (file: string, account: MailAccount, password: string, options?: SecretOptions): Promise<SecretPlace> =>
  saveLogin(file, { for: passwordFor(account), password }, 'password', options)

/** Returns whether there was one. */
export const removePassword = (file: string): Promise<boolean> => removeLogin(file)
