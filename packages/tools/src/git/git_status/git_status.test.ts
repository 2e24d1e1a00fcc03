import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createWorkspace } from '../../create-workspace.ts'
import { fixture as plain, put, refused, run, temporary } from '../../workspace.fixture.ts'
import { freshHome, repository } from '../git.fixture.ts'
import { gitTools } from '../index.ts'
import { workingTree } from './porcelain.ts'

beforeAll(() => void freshHome())

const statusOf = async (r: ReturnType<typeof repository>, input: object = {}) => run(r.tool('git_status'), input)

describe('git_status', () => {
  test('shows staged and other changes, renames and new files', async () => {
    const r = repository({ 'a.txt': 'a\n', 'old.txt': 'one\ntwo\nthree\n', 'gone.txt': 'x\n' })
    r.put({ 'a.txt': 'b\n', 'new/c.txt': 'c\n', 'staged.txt': 's\n' })
    r.git('mv', 'old.txt', 'moved.txt')
    r.git('add', 'staged.txt')
    rmSync(join(r.root, 'gone.txt'))
    const result = await statusOf(r)
    expect(result.content).toBe(
      'On branch main.\nStaged:\n  renamed: old.txt -> moved.txt\n  added: staged.txt\nNot staged:\n  modified: a.txt\n  deleted: gone.txt\nUntracked:\n  new/',
    )
    expect(result).toMatchObject({ count: 5, hasMore: false, data: { branch: 'main', detached: false, untracked: ['new/'] } })
  })

  test('nothing changed is ok with count 0', async () => {
    const result = await statusOf(repository({ 'a.txt': 'a\n' }))
    expect(result).toMatchObject({ count: 0, content: 'On branch main.\nNothing is changed.' })
  })

  test('before the first commit, detached, ahead and behind', async () => {
    const r = repository()
    expect((await statusOf(r)).content).toContain('On branch main, without a commit yet.')
    r.put({ 'a.txt': 'a\n' })
    r.save()
    r.git('branch', 'up')
    r.git('branch', '--set-upstream-to=up')
    expect((await statusOf(r)).content).toContain('level with up')
    r.put({ 'a.txt': 'b\n' })
    r.save('two')
    expect(await statusOf(r)).toMatchObject({ content: expect.stringContaining('1 ahead of up'), data: { ahead: 1, behind: 0 } })
    r.git('checkout', '--quiet', '--detach')
    expect(await statusOf(r)).toMatchObject({ content: expect.stringMatching(/^Detached at [0-9a-f]{10}\./), data: { detached: true } })
  })

  test('a conflict, and the merge that it is part of', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.git('checkout', '--quiet', '-b', 'other')
    r.put({ 'a.txt': 'b\n' })
    r.save('b')
    r.git('checkout', '--quiet', 'main')
    r.put({ 'a.txt': 'c\n' })
    r.save('c')
    expect(() => r.git('merge', 'other')).toThrow()
    const result = await statusOf(r)
    expect(result.content).toBe('On branch main.\nA merge is under way.\nIn conflict:\n  a.txt (both modified)')
    expect(result.data).toMatchObject({ operation: 'merge', conflicts: [{ path: 'a.txt', conflict: 'both modified' }] })
  })

  test.skipIf(process.platform === 'win32')('names with newlines, quotes and spaces', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const names = ['two\nlines', 'a "quote"', ' space ', '-dash', 'ünïcödé', 'R old -> new']
    for (const name of names) writeFileSync(join(r.root, name), 'x')
    const result = await statusOf(r)
    expect((result.data['untracked'] as string[]).toSorted()).toEqual(names.toSorted())
    expect(result.content).toContain('"two\\nlines"')
    expect(result.content).toContain('  ünïcödé')
  })

  test('a submodule with a new commit; what is changed inside is not looked at', async () => {
    const inner = repository({ 'i.txt': 'i\n' })
    const r = repository({ 'a.txt': 'a\n' })
    r.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', inner.root, 'sub')
    r.save('with sub')
    r.put({ 'sub/i.txt': 'changed\n' })
    expect(await statusOf(r)).toMatchObject({ count: 0 })
    r.git('-C', 'sub', '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '--quiet', '-am', 'inner')
    expect((await statusOf(r)).content).toContain('modified: sub (submodule)')
    expect((await statusOf(r, { repo: 'sub' })).content).toContain('Nothing is changed')
  })

  test('a linked working tree, whose git folder lies outside', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const where = join(temporary(), 'tree')
    r.git('worktree', 'add', '--quiet', '-b', 'side', where)
    put(where, { 'n.txt': 'n\n' })
    const [status] = gitTools(createWorkspace(where))
    expect((await run(status as never, {})).content).toBe('On branch side.\nUntracked:\n  n.txt')
  })

  test('a workspace below the top is shown alone, with its own paths', async () => {
    const r = repository({ 'app/a.txt': 'a\n', 'b.txt': 'b\n' }, { below: 'app' })
    r.put({ 'app/a.txt': 'c\n', 'b.txt': 'd\n', 'app/x/y.txt': 'y\n' })
    expect((await statusOf(r)).content).toBe('On branch main.\nNot staged:\n  modified: a.txt\nUntracked:\n  x/')
    expect((await statusOf(r, { repo: 'x' })).content).toContain('Untracked:\n  x/')
  })

  test('in pages', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    for (const n of [1, 2, 3]) r.put({ [`${n}.txt`]: 'x' })
    expect(await statusOf(r, { limit: 2 })).toMatchObject({ hasMore: true, page: 1, count: 3 })
    expect((await statusOf(r, { limit: 2, page: 2 })).content).toBe('On branch main.\nUntracked:\n  3.txt\n(page 2 of 2, 3 entries)')
    expect((await refused(r.tool('git_status'), { limit: 2, page: 3 })).details).toMatchObject({ parameter: 'page', suggestion: 2 })
  })
})

describe('outside a repository', () => {
  test('the nearest one below is named', async () => {
    const { root, workspace } = plain({ 'apps/web/a.txt': 'a' })
    const [status] = gitTools(workspace)
    const none = await refused(status as never, {})
    expect(none).toMatchObject({ status: 'retry', errorType: 'not_found', message: expect.stringContaining('none below') })
    mkdirSync(join(root, 'apps/web/.git'))
    rmSync(join(root, 'apps/web/.git'), { recursive: true })
    const other = repository({ 'x.txt': 'x' })
    renameSync(join(other.root, '.git'), join(root, 'apps/web/.git'))
    const error = await refused(status as never, {})
    expect(error.details).toMatchObject({ parameter: 'repo', value: '.', suggestion: 'apps/web' })
    expect((await refused(status as never, { repo: 'apps' })).details).toMatchObject({ suggestion: 'apps/web' })
    expect((await run(status as never, { repo: 'apps/web' })).content).toContain('Untracked:\n  apps/web/a.txt')
    expect(error.message).not.toContain(root)
  })
})

describe('porcelain', () => {
  const path = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !text.includes('\0'))
  const sha = '0'.repeat(40)
  const entry = fc.oneof(
    path.map((p) => ({ kind: 'untracked', text: `? ${p}`, p })),
    path.map((p) => ({ kind: 'staged', text: `1 M. N... 100644 100644 100644 ${sha} ${sha} ${p}`, p })),
    path.map((p) => ({ kind: 'unstaged', text: `1 .D N... 100644 100644 000000 ${sha} ${sha} ${p}`, p })),
    path.map((p) => ({ kind: 'conflicts', text: `u UU N... 100644 100644 100644 100644 ${sha} ${sha} ${sha} ${p}`, p })),
    fc
      .tuple(path, path)
      .map(([p, from]) => ({ kind: 'staged', text: `2 R. N... 100644 100644 100644 ${sha} ${sha} R100 ${p}\0${from}`, p })),
  )

  test('whatever the names, each comes back in its list', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const tree = workingTree(entries.map(({ text }) => `${text}\0`).join(''))
        const names = (list: readonly (string | { path: string })[]) => list.map((one) => (typeof one === 'string' ? one : one.path))
        for (const kind of ['staged', 'unstaged', 'conflicts', 'untracked'] as const)
          expect(names(tree[kind])).toEqual(entries.filter((one) => one.kind === kind).map(({ p }) => p))
      }),
    )
  })

  test('never throws on anything', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void workingTree(text)))
  })
})
