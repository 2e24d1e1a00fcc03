/** Logins: a file that only its owner can read, with the secret in the keychain where there is one. */
import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { keepInKeychain, readKeychain, removeFromKeychain } from './keychain.ts'

/** What is stored, by name. */
type Stored = Readonly<Record<string, unknown>>

export interface SecretOptions {
  /** Whether the keychain may be used. Default: true */
  readonly keychain?: boolean | undefined
}

/** Where a secret is: the keychain has it, or the file. */
export type SecretPlace = 'keychain' | 'file'

/** Stores the values; the one called `secret` goes to the keychain if there is one that works. */
export async function saveLogin(
  file: string,
  value: Stored,
  secret: string,
  { keychain = true }: SecretOptions = {},
): Promise<SecretPlace> {
  const { [secret]: hidden, ...open } = value
  if (keychain && (await keepInKeychain(file, String(hidden)))) {
    await write(file, { ...open, keychain: true })
    return 'keychain'
  }
  // An earlier login may be in the keychain, where logging out would not find it any more.
  const before = await isInKeychain(file)
  await write(file, value)
  if (before) await removeFromKeychain(file)
  return 'file'
}

/**
 * Reads the values, with the one from the keychain. Returns undefined if there is no such file.
 *
 * @throws Error if the file can't be read or is damaged, or the keychain does not return the secret
 */
export async function readStored(file: string, secret: string): Promise<Stored | undefined> {
  let text: string
  try {
    // A file that others can read has been copied or restored.
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const { keychain, ...stored } = JSON.parse(text) as Stored
  if (keychain !== true) return stored
  const hidden = await readKeychain(file)
  if (hidden === undefined) throw new Error('the keychain does not return the secret')
  return { ...stored, [secret]: hidden }
}

/** Removes both. Returns whether there was a file. */
export async function removeLogin(file: string): Promise<boolean> {
  const isThere = await stat(file).catch(() => undefined)
  if (!isThere) return false
  if (await isInKeychain(file)) await removeFromKeychain(file)
  await rm(file, { force: true })
  return true
}

const isInKeychain = async (file: string): Promise<boolean> => /"keychain": true/.test(await readFile(file, 'utf8').catch(() => ''))

/** Replaces the file as a whole. */
async function write(file: string, value: Stored): Promise<void> {
  const written = `${file}.${process.pid}.tmp`
  try {
    await writeFile(written, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await rename(written, file)
  } finally {
    await rm(written, { force: true })
  }
}
