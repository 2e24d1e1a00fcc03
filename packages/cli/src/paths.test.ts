import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { dataDir } from './paths.ts'

it.each([
  ['its own', { MULLIGAN_DATA_DIR: '/d', XDG_DATA_HOME: '/x' }, 'linux', resolve('/d')],
  ['XDG', { XDG_DATA_HOME: '/x' }, 'linux', join('/x', 'mulligan')],
  ['a relative XDG is ignored', { XDG_DATA_HOME: 'x' }, 'linux', join('/home/me', '.local/share/mulligan')],
  ['Linux', {}, 'linux', join('/home/me', '.local/share/mulligan')],
  ['macOS', {}, 'darwin', join('/home/me', 'Library/Application Support/mulligan')],
  ['Windows', { LOCALAPPDATA: '/local' }, 'win32', join('/local', 'mulligan')],
] as const)('data folder: %s', (_, env, platform, dir) => expect(dataDir(env, platform, () => '/home/me')).toBe(dir))
