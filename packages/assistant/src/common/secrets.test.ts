/** Logins in a file, and in a real keychain: GNOME Keyring on a message bus of its own. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readStored, removeLogin, saveLogin } from './secrets.ts'

const LOGIN = { clientId: 'id', refreshToken: '1//kanarie' }
let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-secrets-'))
  file = join(folder, 'google.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('without a keychain, a file that only its owner can read has the secret', async () => {
  expect(await readStored(file, 'refreshToken')).toBeUndefined()
  expect(await saveLogin(file, LOGIN, 'refreshToken', { keychain: false })).toBe('file')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  chmodSync(file, 0o644)
  expect(await readStored(file, 'refreshToken')).toEqual(LOGIN)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect([await removeLogin(file), await removeLogin(file)]).toEqual([true, false])
})

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0
const hasKeyring = process.platform === 'linux' && has('dbus-daemon') && has('gnome-keyring-daemon')

/** Starts a message bus with a keyring that is unlocked, in a home of its own, for this process. */
async function startKeyring(): Promise<Disposable> {
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder }
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [address] = (await once(bus.stdout, 'data')) as [Buffer]
  const onBus = { ...env, DBUS_SESSION_BUS_ADDRESS: address.toString().trim() }
  // It detaches once it is ready, and ends with the bus.
  spawnSync('gnome-keyring-daemon', ['--unlock', '--components=secrets'], { env: onBus, input: 'pw', stdio: ['pipe', 'ignore', 'ignore'] })
  const before = process.env['DBUS_SESSION_BUS_ADDRESS']
  process.env['DBUS_SESSION_BUS_ADDRESS'] = onBus.DBUS_SESSION_BUS_ADDRESS
  return {
    [Symbol.dispose]() {
      if (before === undefined) delete process.env['DBUS_SESSION_BUS_ADDRESS']
      else process.env['DBUS_SESSION_BUS_ADDRESS'] = before
      bus.kill()
    },
  }
}

it.skipIf(!hasKeyring && !process.env['CI'])('with a keychain, the secret is there and not in the file', async () => {
  using _ = await startKeyring()
  expect(await saveLogin(file, LOGIN, 'refreshToken')).toBe('keychain')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ clientId: 'id', keychain: true })
  expect(await readStored(file, 'refreshToken')).toEqual(LOGIN)
  const copy = readFileSync(file, 'utf8')
  await removeLogin(file)
  // What was removed is not in the keychain either.
  writeFileSync(file, copy)
  await expect(readStored(file, 'refreshToken')).rejects.toThrow('the keychain does not return the secret')
  // Nor is what a later login without the keychain replaces.
  await saveLogin(file, LOGIN, 'refreshToken')
  await saveLogin(file, LOGIN, 'refreshToken', { keychain: false })
  expect(await readStored(file, 'refreshToken')).toEqual(LOGIN)
  writeFileSync(file, copy)
  await expect(readStored(file, 'refreshToken')).rejects.toThrow('the keychain does not return the secret')
})

it('a keychain that is gone is told, and not taken for a missing login', async () => {
  await saveLogin(file, { keychain: true }, 'refreshToken', { keychain: false })
  await expect(readStored(file, 'refreshToken')).rejects.toThrow('the keychain does not return the secret')
})
