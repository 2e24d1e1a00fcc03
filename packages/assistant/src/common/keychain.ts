/** The keychain of the operating system: Keychain, Credential Manager, or the Secret Service of a Linux desktop. Loaded on first use. */
const SERVICE = 'mulligan'
/** Milliseconds: the person may be asked to unlock it. */
const PATIENCE = 60_000

/** Returns undefined if it can't be used: none runs, it is locked, or the package for it is not installed. */
export const keepInKeychain = async (account: string, secret: string): Promise<true | undefined> =>
  attempt(account, async (entry) => {
    await entry.setPassword(secret)
    // A keychain that forgets is none.
    return (await entry.getPassword()) === secret || undefined
  })

export const readKeychain = (account: string): Promise<string | undefined> =>
  attempt(account, async (entry) => (await entry.getPassword()) ?? undefined)

export const removeFromKeychain = async (account: string): Promise<void> => {
  await attempt(account, async (entry) => (await entry.deletePassword()) || undefined)
}

type Entry = InstanceType<typeof import('@napi-rs/keyring').AsyncEntry>

async function attempt<T>(account: string, run: (entry: Entry) => Promise<T | undefined>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE)
  })
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring')
    // Linux has another store too, the kernel's, which forgets when the machine restarts.
    const entry = new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' as never } })
    return await Promise.race([run(entry), late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
