import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { context, refused, run, temporary } from '../../workspace.fixture.ts'
import { touches } from '../common/file-changes.ts'
import { canary, freshHome, repository } from '../git.fixture.ts'
import { hasMarkers } from './refusals.ts'

beforeAll(() => void freshHome())

type Repo = ReturnType<typeof repository>
const commit = (r: Repo, input: object) => run(r.tool('git_commit'), { message: 'A message', ...input })
const refusal = (r: Repo, input: object) => refused(r.tool('git_commit'), { message: 'A message', ...input })
const inHead = (r: Repo) => r.git('show', '--format=', '--name-only', 'HEAD').trim().split('\n').filter(Boolean)

describe('git_commit', () => {
  test('what is staged', async () => {
    const r = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    r.put({ 'a.txt': 'A\n', 'b.txt': 'B\n' })
    r.git('add', 'a.txt')
    const result = await commit(r, { message: '  Change a\n\n# not a comment\n\nSigned-off-by: Ann\n' })
    expect(result.content).toMatch(/^Committed [0-9a-f]{10} on main: Change a\n1 file, \+1 -1: a.txt$/)
    expect(result).toMatchObject({ count: 1, data: { subject: 'Change a', branch: 'main', amended: false, hooks: [] } })
    expect(inHead(r)).toEqual(['a.txt'])
    expect(r.git('log', '-1', '--format=%B').trim()).toBe('Change a\n\n# not a comment\n\nSigned-off-by: Ann')
  })

  test('only the paths, whatever else is staged: new, changed and deleted ones', async () => {
    const r = repository({ 'a.txt': 'a\n', 'dir/gone.txt': 'g\n', 'other.txt': 'o\n' })
    r.put({ 'a.txt': 'A\n', 'new/n.txt': 'n\n', 'other.txt': 'O\n', '*.txt': 'star\n' })
    r.git('rm', '--quiet', 'dir/gone.txt')
    r.git('add', 'other.txt')
    await commit(r, { paths: ['a.txt', 'new/n.txt', 'dir/gone.txt'] })
    expect(inHead(r)).toEqual(['a.txt', 'dir/gone.txt', 'new/n.txt'])
    await commit(r, { paths: ['*.txt'] })
    expect(inHead(r)).toEqual(['*.txt'])
    expect(r.git('status', '--porcelain')).toBe('M  other.txt\n')
  })

  test('all, and before the first commit', async () => {
    const r = repository()
    r.put({ 'a.txt': 'a\n', 'b/c.txt': 'c\n', '.gitignore': 'x\n', x: 'x' })
    await commit(r, { all: true })
    expect(inHead(r)).toEqual(['.gitignore', 'a.txt', 'b/c.txt'])
  })

  describe('all and .mulligan', () => {
    const files = { '.mulligan/tools/x.mjs': 'x', 'app/.Mulligan/y.json': '{}', 'app/z.txt': 'z\n' }
    const note = expect.stringMatching(/Left out.*\.mulligan\/tools\/x\.mjs, app\/\.Mulligan\/y\.json.*in paths/)

    test('what is new in it is left out and said, at any depth', async () => {
      const r = repository({ 'a.txt': 'a\n', 'gone.txt': 'g\n' })
      r.put({ ...files, 'a.txt': 'A\n' })
      r.git('rm', '--quiet', 'gone.txt')
      expect((await commit(r, { all: true })).notes).toEqual([note])
      expect(inHead(r)).toEqual(['a.txt', 'app/z.txt', 'gone.txt'])
      expect(await commit(r, { all: true })).toMatchObject({
        count: 0,
        content: 'Nothing to commit: only files of .mulligan are new.',
        notes: [note],
      })
      // Control: plain git does add it.
      expect(r.git('add', '--all', '--dry-run')).toContain('.mulligan/tools/x.mjs')
    })

    test('nor does the call that is suggested take it in, unless it is named', async () => {
      const r = repository({ 'a.txt': 'a\n' })
      r.put({ ...files, 'a.txt': 'A\n' })
      expect((await refusal(r, {})).details.call?.input).toMatchObject({ paths: ['a.txt', 'app/'] })
      await commit(r, { paths: ['.mulligan'] })
      expect(inHead(r)).toEqual(['.mulligan/tools/x.mjs'])
    })

    test('what is tracked in it comes along, in a merge too', async () => {
      const r = repository({ 'a.txt': 'a\n', '.mulligan/tools/old.mjs': 'old' })
      r.git('checkout', '--quiet', '-b', 'other')
      r.put({ 'b.txt': 'b\n' })
      r.save()
      r.git('checkout', '--quiet', 'main')
      r.put({ '.mulligan/tools/old.mjs': 'new', '.mulligan/tools/x.mjs': 'x' })
      await commit(r, { all: true })
      expect(inHead(r)).toEqual(['.mulligan/tools/old.mjs'])
      r.git('merge', '--quiet', '--no-commit', '--no-ff', 'other')
      r.put({ '.mulligan/tools/old.mjs': 'newer' })
      await commit(r, { all: true })
      expect(r.git('show', 'HEAD:.mulligan/tools/old.mjs')).toBe('newer')
      expect(r.git('status', '--porcelain')).toBe('?? .mulligan/tools/x.mjs\n')
    })

    test('in a folder of the repository', async () => {
      const r = repository({ 'app/a.txt': 'a\n' }, { below: 'app' })
      r.put({ 'app/.mulligan/x.mjs': 'x', 'app/a.txt': 'A\n', '.mulligan/y.mjs': 'y' })
      expect((await commit(r, { all: true })).notes).toEqual([expect.stringContaining('new files in .mulligan: .mulligan/x.mjs.')])
      expect(inHead(r)).toEqual(['app/a.txt'])
    })
  })

  test('nothing to commit is ok with count 0', async () => {
    const r = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    expect(await commit(r, {})).toMatchObject({ count: 0, content: 'Nothing to commit: nothing is changed.' })
    expect(await commit(r, { all: true })).toMatchObject({ count: 0 })
    r.put({ 'b.txt': 'B\n' })
    expect(await commit(r, { paths: ['a.txt'] })).toMatchObject({ count: 0, content: 'Nothing to commit: no change in the paths.' })
    expect(r.git('rev-list', '--count', 'HEAD').trim()).toBe('1')
  })

  test('changes that are not staged: the call that stages them is given, and works', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.put({ 'a.txt': 'A\n', 'n.txt': 'n\n' })
    const { status, details } = await refusal(r, {})
    expect([status, details.call]).toEqual(['retry', { tool: 'git_commit', input: { message: 'A message', paths: ['a.txt', 'n.txt'] } }])
    await run(r.tool('git_commit'), details.call?.input)
    expect(inHead(r)).toEqual(['a.txt', 'n.txt'])
  })

  test('paths that never were, are ignored, or lie outside', async () => {
    const r = repository({ 'src/main.txt': 'm\n', '.gitignore': 'out\n' })
    r.put({ out: 'o' })
    expect((await refusal(r, { paths: ['src/mian.txt'] })).details).toMatchObject({ parameter: 'paths[0]', suggestion: 'src/main.txt' })
    expect((await refusal(r, { paths: ['src/main.txt', 'out'] })).details).toMatchObject({ parameter: 'paths[1]', value: 'out' })
    expect((await refusal(r, { paths: ['../x'] })).errorType).toBe('permission')
    expect((await refusal(r, { paths: ['a'], all: true })).details).toMatchObject({ parameter: 'all', suggestion: false })
  })

  test('a short message never reaches git', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.put({ 'a.txt': 'A\n' })
    for (const message of [' fix ', 'wip', '     '])
      await expect(commit(r, { message, all: true })).rejects.toThrow('must say what was changed, in at least 5 characters')
    expect(r.git('rev-list', '--count', 'HEAD').trim()).toBe('1')
    expect(await commit(r, { message: 'Fix a', all: true })).toMatchObject({
      data: { subject: 'Fix a', hash: r.git('rev-parse', 'HEAD').trim() },
    })
  })

  test('amends, but not what a remote branch has, nor nothing', async () => {
    const r = repository()
    expect((await refusal(r, { amend: true })).details).toMatchObject({ parameter: 'amend', suggestion: false })
    r.put({ 'a.txt': 'a\n' })
    r.save()
    expect((await commit(r, { amend: true, message: 'A better message' })).content).toMatch(/^Amended/)
    r.put({ 'b.txt': 'b\n' })
    await commit(r, { amend: true, paths: ['b.txt'] })
    expect(inHead(r)).toEqual(['a.txt', 'b.txt'])
    expect(r.git('rev-list', '--count', 'HEAD').trim()).toBe('1')
    const remote = repository()
    remote.git('config', 'receive.denyCurrentBranch', 'ignore')
    r.git('push', '--quiet', remote.root, 'main')
    r.git('remote', 'add', 'origin', remote.root)
    r.git('fetch', '--quiet', 'origin')
    const before = r.git('rev-parse', 'HEAD')
    expect(await refusal(r, { amend: true })).toMatchObject({ status: 'retry', message: expect.stringContaining('origin/main') })
    expect(r.git('rev-parse', 'HEAD')).toBe(before)
  })

  test('a conflict: not with markers, then with the file once they are gone', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.git('checkout', '--quiet', '-b', 'other')
    r.put({ 'a.txt': 'b\n' })
    r.save()
    r.git('checkout', '--quiet', 'main')
    r.put({ 'a.txt': 'c\n' })
    r.save()
    expect(() => r.git('merge', 'other')).toThrow()
    expect((await refusal(r, { all: true })).details).toMatchObject({ parameter: 'paths' })
    expect((await refusal(r, {})).details).toMatchObject({ parameter: 'paths', suggestion: 'a.txt' })
    r.put({ 'a.txt': 'both\n' })
    expect((await refusal(r, { amend: true, paths: ['a.txt'] })).details).toMatchObject({ parameter: 'amend' })
    await commit(r, { paths: ['a.txt'] })
    expect(r.git('rev-list', '--parents', '-1', 'HEAD').trim().split(' ')).toHaveLength(3)
  })

  test('nobody is made up: without a name the two commands are given', async () => {
    const r = repository({}, { identity: false })
    r.put({ 'a.txt': 'a\n' })
    const error = await refusal(r, { all: true })
    expect(error).toMatchObject({ status: 'failed', errorType: 'config' })
    expect(error.message).toMatch(/git config --global user\.name .* git config --global user\.email/)
    expect(r.git('status', '--porcelain')).toBe('?? a.txt\n')
  })

  test('a lock that was left behind', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.put({ 'a.txt': 'A\n', '.git/index.lock': '' })
    const error = await refusal(r, { all: true })
    expect(error).toMatchObject({ status: 'failed', message: expect.stringContaining('remove .git/index.lock') })
    expect(error.message).not.toContain(r.root)
  })

  test('files staged outside the workspace do not come along', async () => {
    const r = repository({ 'app/a.txt': 'a\n', 'b.txt': 'b\n' }, { below: 'app' })
    r.put({ 'app/a.txt': 'A\n', 'b.txt': 'B\n' })
    r.git('add', '--all')
    expect((await refusal(r, {})).details).toMatchObject({ parameter: 'paths', suggestion: ['a.txt'] })
    expect((await commit(r, { paths: ['a.txt'] })).content).toContain(': a.txt')
    expect(inHead(r)).toEqual(['app/a.txt'])
  })

  test('a call that is stopped ends, and leaves no lock', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.put({ 'a.txt': 'A\n' })
    const { sign } = hook(r, 'pre-commit', 'while :; do sleep 0.05; done')
    const stop = new AbortController()
    const going = run(r.tool('git_commit'), { message: 'A message', all: true }, context(stop.signal))
    const over = going.then(
      () => 'done',
      (error: Error) => error.message,
    )
    while (!existsSync(sign)) await new Promise((resolve) => setTimeout(resolve, 10))
    stop.abort(new Error('stopped'))
    expect(await over).toBe('stopped')
    expect(existsSync(join(r.root, '.git/index.lock'))).toBe(false)
    expect(r.git('rev-list', '--count', 'HEAD').trim()).toBe('1')
  })
})

/** Writes a hook that leaves a mark and then runs `then`. */
function hook(r: Repo, name: string, then = 'exit 0', folder = '.git/hooks') {
  const sign = join(temporary(), 'ran')
  r.put({ [join(folder, name)]: `#!/bin/sh\ntouch '${sign}'\n${then}\n` })
  chmodSync(join(r.root, folder, name), 0o755)
  return { sign }
}

describe('hooks', () => {
  const changed = (options = {}) => {
    const r = repository({ 'a.txt': 'a\n' }, options)
    r.put({ 'a.txt': 'A\n' })
    return r
  }

  test('those in .git run, are told of, and may refuse', async () => {
    const r = changed()
    const { sign } = hook(r, 'pre-commit')
    expect((await commit(r, { paths: ['a.txt'] })).data['hooks']).toEqual(['pre-commit'])
    expect(existsSync(sign)).toBe(true)
    r.put({ 'a.txt': 'B\n' })
    hook(r, 'pre-commit', `echo "lint: $PWD/a.txt is bad" >&2; exit 1`)
    const error = await refusal(r, { paths: ['a.txt'] })
    expect(error).toMatchObject({ status: 'failed', errorType: 'execution' })
    expect(error.message).toContain('lint: a.txt is bad')
    expect(error.message).toContain('A hook may have refused it: pre-commit.')
    expect(error.message).not.toContain(r.root)
  })

  test('see patterns as patterns', async () => {
    const r = changed()
    hook(r, 'pre-commit', `test -n "$(git diff --cached --name-only -- '*.txt')"`)
    expect(await commit(r, { paths: ['a.txt'] })).toMatchObject({ count: 1 })
  })

  test.each(['core.hooksPath', 'a link'])('that the model could have written do not run: %s', async (how) => {
    const r = changed()
    const { sign } = hook(r, 'pre-commit', 'exit 0', '.husky')
    if (how === 'a link') symlinkSync('../../.husky/pre-commit', join(r.root, '.git/hooks/pre-commit'))
    else r.git('config', 'core.hooksPath', '.husky')
    const error = await refusal(r, { paths: ['a.txt'] })
    expect(error).toMatchObject({ errorType: 'config', message: expect.stringContaining('.husky/pre-commit') })
    expect(existsSync(sign)).toBe(false)
    // Control: plain git does run it.
    r.git('commit', '--quiet', '-am', 'plain')
    expect(existsSync(sign)).toBe(true)
  })

  test('all of them, or none, where that is set', async () => {
    for (const hooks of ['all', 'none'] as const) {
      const r = changed({ hooks })
      const { sign } = hook(r, 'pre-commit', 'exit 0', '.husky')
      const { sign: after } = hook(r, 'post-commit', 'exit 0', '.husky')
      r.git('config', 'core.hooksPath', '.husky')
      const result = await commit(r, { paths: ['a.txt'] })
      expect([existsSync(sign), existsSync(after)]).toEqual([hooks === 'all', hooks === 'all'])
      expect(result.data['hooks']).toEqual(hooks === 'all' ? ['pre-commit', 'post-commit'] : [])
    }
  })

  test('settings that the model could have written stop the commit', async () => {
    const r = changed()
    const { script, sign } = canary(temporary())
    r.put({ 'team.gitconfig': `[filter "x"]\n\tclean = ${script}\n`, '.gitattributes': '*.txt filter=x\n' })
    r.git('config', 'include.path', '../team.gitconfig')
    expect((await refusal(r, { all: true })).message).toContain('team.gitconfig')
    expect(existsSync(sign)).toBe(false)
    r.git('add', '--all')
    expect(existsSync(sign)).toBe(true)
  })

  test("the repository's filters run for a commit, as git-lfs needs", async () => {
    const r = changed()
    const script = join(temporary(), 'upper.sh')
    writeFileSync(script, '#!/bin/sh\ntr a-z A-Z\n', { mode: 0o755 })
    r.git('config', 'filter.up.clean', script)
    r.put({ '.gitattributes': '*.md filter=up\n', 'x.md': 'text\n' })
    await commit(r, { paths: ['x.md', '.gitattributes'] })
    expect(r.git('show', 'HEAD:x.md')).toBe('TEXT\n')
    expect(readFileSync(join(r.root, 'x.md'), 'utf8')).toBe('text\n')
  })
})

test.each([
  ['a', ['a'], true],
  ['a', ['a/b'], true],
  ['a/b', ['a/'], true],
  ['a', ['a/'], true],
  ['a', ['ab'], false],
  ['.', [], false],
  ['.', ['x'], true],
])('touches %s %j: %s', (path, changed, expected) => expect(touches(path, changed)).toBe(expected))

test('conflict markers', () => {
  expect(hasMarkers('a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n')).toBe(true)
  expect(hasMarkers('# Title\n=======\n>> quoted\n')).toBe(false)
})
