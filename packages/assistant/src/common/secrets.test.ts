/** Logins in a file, and in a real keychain: GNOME Keyring on a message bus of its own. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
const hasKeyring = process.platform === 'linux' && has('dbus-run-session') && has('gnome-keyring-daemon')

const module = fileURLToPath(new URL('./secrets.ts', import.meta.url))
const script = (file: string): string => `
const { readStored, removeLogin, saveLogin } = await import(${JSON.stringify(module)})
const { readFileSync } = await import('node:fs')
const place = await saveLogin(${JSON.stringify(file)}, ${JSON.stringify(LOGIN)}, 'refreshToken')
const text = readFileSync(${JSON.stringify(file)}, 'utf8')
const read = await readStored(${JSON.stringify(file)}, 'refreshToken')
await removeLogin(${JSON.stringify(file)})
await saveLogin(${JSON.stringify(file)}, LOGIN = { refreshToken: 'x' }, 'refreshToken')
console.log(JSON.stringify({ place, text, read }))
`

/** Runs a script with a keyring that is unlocked, in a home of its own. */
function withKeyring(code: string) {
  const start = 'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" --input-type=module -e "$1"'
  return spawnSync('dbus-run-session', ['--', 'sh', '-c', start, process.execPath, code], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder },
  })
}

it.skipIf(!hasKeyring && !process.env['CI'])('with a keychain, the secret is there and not in the file', () => {
  const { stdout, stderr } = withKeyring(script(file).replace('LOGIN = ', ''))
  expect([stderr.replace(/^dbus-daemon.*\n/gm, ''), JSON.parse(stdout || '{}')]).toMatchObject(['', { place: 'keychain', read: LOGIN }])
  expect(readFileSync(file, 'utf8')).toBe('{\n  "keychain": true\n}\n')
})

it('a keychain that is gone is told, and not taken for a missing login', async () => {
  await saveLogin(file, { keychain: true }, 'refreshToken', { keychain: false })
  await expect(readStored(`${file}`, 'refreshToken')).rejects.toThrow('the keychain does not give the secret')
})
