import { homedir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { configDir, dataDir, fromHome, openDataDir } from './paths.ts'

afterEach(() => vi.unstubAllEnvs())

it.each([
  ['its own', { MULLIGAN_DATA_DIR: '/d', XDG_DATA_HOME: '/x' }, 'linux', resolve('/d')],
  ['XDG', { XDG_DATA_HOME: '/x' }, 'linux', join('/x', 'mulligan')],
  ['a relative XDG is ignored', { XDG_DATA_HOME: 'x' }, 'linux', join('/home/me', '.local/share/mulligan')],
  ['Linux', {}, 'linux', join('/home/me', '.local/share/mulligan')],
  ['macOS', {}, 'darwin', join('/home/me', 'Library/Application Support/mulligan')],
  ['Windows', { LOCALAPPDATA: '/local' }, 'win32', join('/local', 'mulligan')],
] as const)('data folder: %s', (_, env, platform, dir) => expect(dataDir(env, platform, () => '/home/me')).toBe(dir))

it.each([
  ['XDG', { XDG_CONFIG_HOME: '/x' }, 'linux', join('/x', 'mulligan')],
  ['a relative XDG is ignored', { XDG_CONFIG_HOME: 'x' }, 'linux', join('/home/me', '.config/mulligan')],
  ['Linux', {}, 'linux', join('/home/me', '.config/mulligan')],
  ['macOS', {}, 'darwin', join('/home/me', 'Library/Application Support/mulligan')],
  ['Windows', { LOCALAPPDATA: '/local' }, 'win32', join('/local', 'mulligan')],
] as const)('configuration folder: %s', (_, env, platform, dir) => expect(configDir(env, platform, () => '/home/me')).toBe(dir))

it('a data folder that is not an absolute path is refused', () => {
  expect(() => dataDir({ MULLIGAN_DATA_DIR: 'data' })).toThrow('must be an absolute path')
})

it.skipIf(process.platform === 'win32')('data folder: a home that is set to nothing is the one of the user', () => {
  vi.stubEnv('HOME', '')
  expect(homedir()).toBe('')
  expect(dataDir({}, 'linux')).toBe(join(userInfo().homedir, '.local/share/mulligan'))
  expect(fromHome('/var/x', {})).toBe('/var/x')
})

it.runIf(process.platform === 'linux')('a data folder in /proc is refused', () => {
  expect(() => openDataDir({ MULLIGAN_DATA_DIR: '/proc/x/y' })).toThrow("the data folder /proc/x/y can't be created: ENOENT")
})
