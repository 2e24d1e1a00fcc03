import { expect, test } from 'vitest'
import type { View } from '../view/view.ts'
import { compare, hashOf, isProtected } from './changed.ts'
import { candidates, checkMounts } from './store.ts'
import type { Entry } from './types.ts'
import { layerView, readOnlyView } from './views.ts'

const file = (sha256: string | undefined, mode = 0o644): Entry => ({ type: 'file', mode, size: 1, mtimeMs: 1, sha256, binary: false })
const folder = (mode = 0o755): Entry => ({ type: 'directory', mode, mtimeMs: 1 })
const link = (target: string): Entry => ({ type: 'link', target })
const kindOf = (before: Entry | undefined, after: Entry | undefined) =>
  compare({ before: new Map(before && [['x', before]]), after: new Map(after && [['x', after]]), protect: [] })[0]?.kind

test.each<[string, Entry | undefined, Entry | undefined, string | undefined]>([
  ['the same', file('a'), { ...file('a'), mtimeMs: 2 } as Entry, undefined],
  ['other bytes', file('a'), file('b'), 'modified'],
  ['another mode', file('a'), file('a', 0o600), 'mode'],
  ['other bytes and another mode', file('a'), file('b', 0o600), 'modified'],
  ['bytes that could not be read', file(undefined), file(undefined), 'modified'],
  ['setuid', file('a'), { ...file('a'), setuid: true } as Entry, 'mode'],
  ['a new file', undefined, file('a'), 'added'],
  ['a file that is gone', file('a'), undefined, 'deleted'],
  ['a folder as it was', folder(), folder(), undefined],
  ['a folder with another mode', folder(), folder(0o700), 'mode'],
  ['a link as it was', link('a'), link('a'), undefined],
  ['a link to elsewhere', link('a'), link('b'), 'modified'],
  ['a file instead of a folder', folder(), file('a'), 'modified'],
  ['a folder instead of a link', link('a'), folder(), 'modified'],
  ['a device', undefined, { type: 'special', what: 'device' }, 'added'],
])('%s', (_, before, after, kind) => expect(kindOf(before, after)).toBe(kind))

test('the hash holds for content, mode and target, and not for times', () => {
  const hash = (entry: Entry, path = 'x') => hashOf(compare({ before: new Map(), after: new Map([[path, entry]]), protect: [] }))
  expect(hash({ ...file('a'), mtimeMs: 9 } as Entry)).toBe(hash(file('a')))
  const others = [file('b'), file('a', 0o600), link('a'), link('b'), folder(), { ...file('a'), setuid: true } as Entry]
  expect(new Set([hash(file('a')), hash(file('a'), 'y'), ...others.map((one) => hash(one))]).size).toBe(others.length + 2)
})

test.each([
  ['.git/config', true],
  ['.git/hooks/pre-commit', true],
  ['.git/hooks', true],
  ['.git', true],
  ['.GIT/Config', true],
  ['.git/commondir', true],
  ['.git/info/attributes', true],
  ['.git/modules/a/b/config', true],
  ['vendor/x/.git/config', true],
  ['.git/index', false],
  ['.git/objects/ab/hooks', false],
  ['.gitignore', false],
  ['src/config', false],
  ['hooks/a', false],
  ['.mulligan/tools/a.ts', true],
  ['mulligan.json', true],
  ['src/mulligan.json', false],
  ['.mulligans', false],
  ['.idea/run.xml', true],
])('%s is protected: %s', (path, expected) => expect(isProtected(path, ['.idea'])).toBe(expected))

test('a workspace with a mount in it has no layers', () => {
  const info = (point: string) => `36 35 98:0 / / rw - ext4 /dev/a rw\n37 36 0:5 / ${point} rw - tmpfs tmpfs rw\n`
  expect(() => checkMounts('/my work', info('/my\\040work/node_modules'))).toThrow(
    '/my work/node_modules in the workspace is a mount point',
  )
  for (const point of ['/my\\040work', '/my\\040works', '/my']) expect(() => checkMounts('/my work', info(point))).not.toThrow()
})

test('layers are kept where the user keeps state', () => {
  expect(candidates({ hostEnv: { HOME: '/h' } })[0]).toBe('/h/.local/state/mulligan/layers')
  expect(candidates({ hostEnv: { HOME: '/h', XDG_STATE_HOME: '/x' } })[0]).toBe('/x/mulligan/layers')
  expect(candidates({ hostEnv: { HOME: '/h', XDG_STATE_HOME: 'x' } })[0]).toBe('/h/.local/state/mulligan/layers')
  expect(candidates({ stateFolder: '/s', hostEnv: { HOME: '/h' } })).toEqual(['/s'])
})

test('in both views nothing but the own folders, and in a layer the workspace, can be written', () => {
  const rw = (source: string, target = source) => ({ source, target, mode: 'read-write' }) as const
  const mounts = [
    rw('/own/tmp', '/tmp'),
    rw('/own/home', '/h'),
    rw('/data'),
    rw('/w'),
    rw('/w/.git'),
    { source: '/own/empty', target: '/w/.git/hooks', mode: 'read-only' } as const,
  ]
  const view = { workspace: '/w', tmpFolder: '/own/tmp', homeFolder: '/own/home', mounts, containerMounts: mounts } as unknown as View
  const cover = { source: '/own/empty-file', target: '/w/.env', mode: 'read-only' } as const
  const open = (one: View) => one.mounts.filter((mount) => mount.mode === 'read-write').map(({ target }) => target)
  expect(open(readOnlyView(view, [cover]))).toEqual(['/tmp', '/h'])
  expect(open(layerView(view, [cover]))).toEqual(['/tmp', '/h', '/w'])
  expect(layerView(view, [cover]).mounts.map(({ target }) => target)).toEqual(['/tmp', '/h', '/data', '/w', '/w/.env'])
})
