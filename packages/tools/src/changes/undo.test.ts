import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../sha256.ts'
import type { Change } from '../workspace/change.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { createChangeLog, type RecordedChanges } from './change-log.ts'
import { resolved, snapshot } from './changes.fixture.ts'
import { folderOf, goneWorkspaces } from './folders.ts'
import { tooOld } from './journal.ts'

let root: string
let dir: string
let log: RecordedChanges
beforeEach(() => {
  const top = temporary()
  root = join(top, 'work')
  dir = join(top, 'data')
  mkdirSync(root)
  log = createChangeLog({ dir, root })
})

const at = (path: string): string => join(root, path)
const text = (path: string): string => readFileSync(at(path), 'utf8')
const write = (path: string, content: string): Change => ({
  kind: 'write',
  file: resolved(root, path),
  bytes: Buffer.from(content),
  before: existsSync(at(path)) ? sha256(readFileSync(at(path))) : undefined,
})
const remove = (path: string): Change => ({ kind: 'delete', file: resolved(root, path), before: undefined })
const move = (from: string, to: string): Change => ({ kind: 'move', from: resolved(root, from), to: resolved(root, to), before: undefined })

test('the net change of several turns is what undoing them would revert', async () => {
  put(root, { 'a.txt': '1' })
  await log.apply('s/1/1/0', [write('a.txt', '2'), write('b.txt', 'b')])
  await log.apply('s/2/1/0', [write('a.txt', '3'), write('c.txt', 'c')])
  await log.apply('s/3/1/0', [remove('b.txt')])
  const net = async (...turns: readonly string[]) => (await log.net(turns)).map(({ kind, path }) => `${kind} ${path}`)
  expect(await net('s/3', 's/1', 's/2')).toEqual(['changed a.txt', 'created c.txt'])
  await log.undo('s/3')
  expect(await net('s/1', 's/2', 's/3')).toEqual(['changed a.txt', 'created b.txt', 'created c.txt'])
  expect(await net('s/3')).toEqual([])
})

describe('undo', () => {
  test('takes back all calls of a turn, and only of that turn', async () => {
    put(root, { 'a.txt': '1', 'other.txt': 'x' })
    await log.apply('s/1/1/0', [write('a.txt', '2')])
    await log.apply('s/2/1/0', [write('a.txt', '3')])
    await log.apply('s/2/2/0', [write('a.txt', '4'), write('new/b.txt', 'b')])
    writeFileSync(at('other.txt'), 'somebody else')
    expect(await log.undo('s/2')).toMatchObject({ done: true, conflicts: [] })
    expect(text('a.txt')).toBe('2')
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'other.txt'])
    await log.undo('s/1')
    expect([text('a.txt'), text('other.txt')]).toEqual(['1', 'somebody else'])
    expect((await log.turns()).map(({ turn, undone }) => [turn, undone])).toEqual([
      ['s/2', true],
      ['s/1', true],
    ])
  })

  test('brings back mode, link and an empty folder with its mode', async () => {
    put(root, { 'run.sh': 'exit\n' })
    chmodSync(at('run.sh'), 0o751)
    symlinkSync('run.sh', at('link'))
    mkdirSync(at('empty'))
    chmodSync(at('empty'), 0o711)
    const before = snapshot(root)
    await log.apply('s/1/1/0', [
      remove('run.sh'),
      remove('link'),
      { kind: 'delete', file: resolved(root, 'empty', 'directory'), before: undefined },
    ])
    expect(snapshot(root)).toEqual({})
    await log.undo('s/1')
    expect(snapshot(root)).toEqual(before)
  })

  test('a large file that is deleted while a program writes to it comes back', async () => {
    const content = Buffer.alloc(9 * 1024 * 1024, 'large ')
    put(root, { 'large.log': content })
    const program = openSync(at('large.log'), 'a')
    await log.apply('s/1/1/0', [remove('large.log')])
    writeSync(program, 'x')
    closeSync(program)
    expect(await log.undo('s/1')).toMatchObject({ done: true, conflicts: [] })
    expect(readFileSync(at('large.log')).equals(content)).toBe(true)
  })

  test.each([
    ['made', undefined],
    ['changed', '0'],
  ])('a file that the turn has %s and a later one moved: that one is named, also with force, and the turn stays', async (_, before) => {
    if (before !== undefined) put(root, { a: before })
    await log.apply('s/1/1/0', [write('a', '1')])
    await log.apply('s/2/1/0', [move('a', 'b')])
    const conflict = { path: 'a', why: 'it was moved to b by turn s/2: undo that first', forceable: false }
    for (const force of [false, true]) expect(await log.undo('s/1', { force })).toMatchObject({ done: false, conflicts: [conflict] })
    expect((await log.turns()).map(({ turn, undone }) => [turn, undone])).toEqual([
      ['s/1', false],
      ['s/2', false],
    ])
    await log.undo('s/2')
    expect(await log.undo('s/1')).toMatchObject({ done: true, conflicts: [] })
    expect(Object.keys(snapshot(root))).toEqual(before === undefined ? [] : ['a'])
  })

  test('with nothing to take back is not recorded as done', async () => {
    await log.apply('s/1/1/0', [write('a', '1')])
    rmSync(at('a'))
    expect(await log.undo('s/1', { force: true })).toEqual({ done: false, turn: 's/1', changes: [], conflicts: [] })
    writeFileSync(at('a'), '1')
    expect(await log.undo('s/1')).toMatchObject({ done: true })
    expect(existsSync(at('a'))).toBe(false)
  })

  test('what force could not restore stays to be undone, and the rest can be redone', async () => {
    put(root, { 'a.txt': '1', 'b.txt': '1' })
    const before = snapshot(root)
    await log.apply('s/1/1/0', [write('a.txt', '2'), write('b.txt', '2')])
    const after = snapshot(root)
    rmSync(at('a.txt'))
    mkdirSync(at('a.txt'))
    expect(await log.undo('s/1', { force: true })).toMatchObject({ done: true, conflicts: [{ path: 'a.txt', forceable: false }] })
    expect(await log.turns()).toMatchObject([{ turn: 's/1', undone: false, redoable: true, changes: [{ path: 'a.txt' }] }])
    rmSync(at('a.txt'), { recursive: true })
    writeFileSync(at('a.txt'), '2')
    expect(await log.undo('s/1')).toMatchObject({ done: true, changes: [{ path: 'a.txt' }] })
    expect(snapshot(root)).toEqual(before)
    expect(await log.redo('s/1')).toMatchObject({ done: true })
    expect(snapshot(root)).toEqual(after)
  })

  test.each(['move', 'removal'])('a %s does not lead into .git through a link that has come since', async (kind) => {
    put(root, { 'd/refs/heads/evil': 'x', '.git/refs/heads/main': 'x' })
    symlinkSync('.git', at('l'))
    await log.apply('s/1/1/0', [kind === 'move' ? move('d/refs/heads/evil', 'e') : write('d/refs/heads/new', 'x')])
    await log.apply('s/2/1/0', [move('d', 'd2')])
    await log.apply('s/3/1/0', [move('l', 'd')])
    if (kind === 'removal') writeFileSync(at('.git/refs/heads/new'), 'x')
    const before = snapshot(root)
    for (const force of [false, true]) expect(await log.undo('s/1', { force })).toMatchObject({ done: false })
    expect(snapshot(root)).toEqual(before)
  })

  test('what .git leads to now is not written', async () => {
    put(root, { 'd/hooks/pre-commit': 'x' })
    await log.apply('s/1/1/0', [remove('d/hooks/pre-commit')])
    writeFileSync(at('.git'), 'gitdir: d\n')
    expect(await log.undo('s/1', { force: true })).toMatchObject({ done: false, conflicts: [{ why: 'it is protected now' }] })
    expect(existsSync(at('d/hooks/pre-commit'))).toBe(false)
    rmSync(at('.git'))
    expect(await log.undo('s/1')).toMatchObject({ done: true })
  })

  test('a file that was changed since is a conflict, and nothing at all is done', async () => {
    put(root, { 'a.txt': '1', 'b.txt': '1' })
    await log.apply('s/1/1/0', [write('a.txt', '2'), write('b.txt', '2')])
    writeFileSync(at('a.txt'), 'mine')
    expect(await log.undo('s/1')).toMatchObject({ done: false, conflicts: [{ path: 'a.txt', forceable: true }] })
    expect([text('a.txt'), text('b.txt')]).toEqual(['mine', '2'])
    expect(await log.undo('s/1', { force: true })).toMatchObject({ done: true })
    expect([text('a.txt'), text('b.txt')]).toEqual(['1', '1'])
    await log.redo('s/1')
    expect([text('a.txt'), text('b.txt')]).toEqual(['mine', '2'])
  })

  test('what was put into a folder since keeps the folder', async () => {
    await log.apply('s/1/1/0', [write('new/a.txt', '1')])
    writeFileSync(at('new/mine.txt'), 'mine')
    expect(await log.undo('s/1')).toMatchObject({ done: true, conflicts: [] })
    expect(readdirSync(at('new'))).toEqual(['mine.txt'])
  })

  test('a folder in the way of a file, or a file in the way of a folder, is never overwritten', async () => {
    put(root, { 'a.txt': '1', 'dir/b.txt': '1' })
    await log.apply('s/1/1/0', [remove('a.txt'), remove('dir/b.txt'), remove('dir')])
    mkdirSync(at('a.txt'))
    writeFileSync(at('dir'), 'mine')
    const before = snapshot(root)
    const { done, conflicts } = await log.undo('s/1')
    expect(done).toBe(false)
    expect(conflicts.map(({ path, forceable }) => [path, forceable]).sort()).toEqual([
      ['a.txt', false],
      ['dir', false],
      ['dir/b.txt', false],
    ])
    await log.undo('s/1', { force: true })
    expect(snapshot(root)).toEqual(before)
  })

  test('edits in a folder that was moved afterwards', async () => {
    put(root, { 'dir/a.txt': '1', 'dir/untouched.txt': 'x' })
    const before = snapshot(root)
    await log.apply('s/1/1/0', [write('dir/a.txt', '2')])
    await log.apply('s/1/2/0', [move('dir', 'moved')])
    await log.apply('s/1/3/0', [write('moved/a.txt', '3')])
    expect((await log.turns())[0]?.changes.map(({ kind, path, from }) => [kind, path, from])).toEqual([
      ['moved', 'moved/a.txt', 'dir/a.txt'],
      ['moved', 'moved', 'dir'],
    ])
    await log.undo('s/1')
    expect(snapshot(root)).toEqual(before)
  })

  test('a link in place of a folder is not followed', async () => {
    const outside = temporary()
    put(root, { 'dir/a.txt': '1' })
    await log.apply('s/1/1/0', [write('dir/a.txt', '2')])
    rmSync(at('dir'), { recursive: true })
    symlinkSync(outside, at('dir'))
    writeFileSync(join(outside, 'a.txt'), '2')
    expect(await log.undo('s/1', { force: true }).catch(() => undefined)).not.toMatchObject({ conflicts: [] })
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('2')
    expect(readdirSync(outside)).toEqual(['a.txt'])
  })

  test('a content that is lost or damaged is named, and force does the rest', async () => {
    put(root, { 'a.txt': '1', 'b.txt': 'b' })
    await log.apply('s/1/1/0', [write('a.txt', '2'), write('b.txt', 'bb')])
    writeFileSync(join(folderOf(dir, root), 'blobs', sha256('1')), 'damaged')
    log = createChangeLog({ dir, root })
    expect(await log.undo('s/1')).toMatchObject({ done: false, conflicts: [{ path: 'a.txt', forceable: false }] })
    await log.undo('s/1', { force: true })
    expect([text('a.txt'), text('b.txt')]).toEqual(['2', 'b'])
  })

  test('a record that is damaged is told, and the other turns work', async () => {
    put(root, { 'a.txt': '1', 'b.txt': 'b' })
    await log.apply('s/1/1/0', [write('a.txt', '2')])
    await log.apply('s/2/1/0', [write('b.txt', 'bb')])
    const done = join(folderOf(dir, root), 'done')
    writeFileSync(join(done, readdirSync(done).sort()[0] as string), '{"version":1,"kind":"call","steps":[{"path":"../../etc/passwd"}]}')
    expect((await log.turns()).map(({ turn, damaged }) => [turn, damaged])).toEqual([
      ['s/1', true],
      ['s/2', false],
    ])
    expect(await log.undo('s/1')).toMatchObject({ done: false })
    expect(await log.undo('s/2')).toMatchObject({ done: true })
    expect(text('b.txt')).toBe('b')
  })

  test('of nothing is refused', async () => {
    await expect(log.undo('s/1')).rejects.toThrow('nothing to undo')
  })
})

describe('the store', () => {
  test('is for the person alone', async () => {
    await log.apply('s/1/1/0', [write('a.txt', '1')])
    const folder = folderOf(dir, root)
    const modes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => {
      const found = statSync(join(folder, path))
      return [found.isDirectory(), found.mode & 0o777]
    })
    for (const [isFolder, mode] of modes) expect(mode).toBe(isFolder ? 0o700 : 0o600)
  })

  test('that cannot be written: the change is not made, and the reason has no path of the machine', async () => {
    put(root, { 'a.txt': '1' })
    writeFileSync(dir, 'a file where the folder should be')
    const error = await log.apply('s/1/1/0', [write('a.txt', '2')]).catch((thrown) => thrown)
    expect(error).toMatchObject({ status: 'failed' })
    expect(error.message).not.toContain(dir)
    expect(text('a.txt')).toBe('1')
  })

  test('tells which workspaces are gone', async () => {
    await log.apply('s/1/1/0', [write('a.txt', '1')])
    expect(await goneWorkspaces(dir)).toEqual([])
    renameSync(root, `${root}-moved`)
    expect(await goneWorkspaces(dir)).toEqual([root])
  })

  test('forgets old turns with their contents, and never the newest', async () => {
    for (const turn of [1, 2, 3, 4]) await log.apply(`s/${turn}/1/0`, [write('a.txt', `${turn}`)])
    const blobs = join(folderOf(dir, root), 'blobs')
    const day = 24 * 60 * 60 * 1000
    const later = createChangeLog({ dir, root, retention: { turns: 2 }, now: () => Date.now() + day })
    await later.recover()
    expect((await later.turns()).map(({ turn }) => turn)).toEqual(['s/3', 's/4'])
    expect(readdirSync(blobs).sort()).toEqual(['2', '3', '4'].map((content) => sha256(content)).sort())
    await later.undo('s/4')
    expect(text('a.txt')).toBe('3')
  })

  test.each([
    ['turns', { turns: 2, bytes: 1000 }, ['a', 'a']],
    ['bytes', { turns: 100, bytes: 25 }, ['a', 'a']],
    ['the newest stays, however large', { turns: 100, bytes: 1 }, ['a', 'a', 'b']],
    ['nothing', { turns: 100, bytes: 1000 }, []],
  ])('what is too old, by %s', (_, retention, expected) => {
    const entries = ['a', 'a', 'b', 'c'].map((group, index) => ({ name: `${index}`, group, bytes: 10 }))
    expect(tooOld(entries, retention).map(({ group }) => group)).toEqual(expected)
  })
})
