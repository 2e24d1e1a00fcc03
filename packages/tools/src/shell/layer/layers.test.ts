/** Commands on layers of a real workspace: nothing changes until the changes are kept, and keeping can be undone. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProposedChanges } from '@mulligan/core/executor'
import { createSandbox, type Sandbox } from '@mulligan/sandbox'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createChangeLog } from '../../changes/change-log.ts'
import { snapshot } from '../../changes/changes.fixture.ts'
import { createWorkspace } from '../../create-workspace.ts'
import { put, temporary } from '../../workspace.fixture.ts'
import { memoizedSandbox } from '../common/sandbox.ts'
import { createLayers, type ShellLayers } from './layers.ts'

let root: string
let data: string
let opened: Sandbox[]
let layers: ShellLayers
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe', encoding: 'utf8' })
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

function open(readable: readonly string[] = []): ShellLayers {
  const sandbox = memoizedSandbox(async () => {
    const made = await createSandbox({ workspace: root, backend: 'bubblewrap', stateFolder: join(data, 'layers') })
    opened.push(made)
    return made
  })
  return createLayers({ workspace: createWorkspace(root, { changes: { dir: join(data, 'changes') } }), sandbox, readable })
}

beforeEach(() => {
  const top = temporary()
  root = join(top, 'work')
  data = join(top, 'data')
  for (const folder of [root, data]) mkdirSync(folder)
  put(root, { 'a.txt': 'one\n', 'src/b.txt': 'b\n', '.gitignore': 'dist/\n', '.env': 'TOKEN=1\n' })
  chmodSync(join(root, 'src/b.txt'), 0o755)
  git('init', '-q', '-b', 'main')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'add', 'a.txt', 'src', '.gitignore')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one')
  opened = []
  layers = open()
})
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()))
})

const ran = async (script: string): Promise<ProposedChanges> => {
  const { changes } = await layers.run({ script })
  if (!changes) throw new Error('nothing was changed')
  return changes
}

test('nothing has happened until it is kept; undo takes it back', async () => {
  const before = snapshot(root)
  const changes = await ran('echo two > a.txt; rm -r src; mkdir new; ln -s ../a.txt new/link; chmod 755 .gitignore')
  expect(snapshot(root)).toEqual(before)
  expect(changes).toMatchObject({
    summary: '2 files changed, 1 added, 1 deleted',
    targets: ['.gitignore', 'a.txt', 'new/link', 'src/b.txt'],
  })
  expect(changes.diff).toContain('-one\n+two')
  expect(await layers.keep(changes, 's/1/1/0')).toEqual(['Kept: 2 files changed, 1 added, 1 deleted.'])
  expect([text('a.txt'), existsSync(join(root, 'src')), text('new/link')]).toEqual(['two\n', false, 'two\n'])
  expect(await createChangeLog({ dir: join(data, 'changes'), root }).undo('s/1')).toMatchObject({ done: true })
  expect(snapshot(root)).toEqual(before)
})

test('what is parked is kept or discarded by a later process', async () => {
  const before = snapshot(root)
  const [kept, discarded, lost] = [await ran('echo two > a.txt'), await ran('echo new > c.txt'), await ran('echo x > d.txt')]
  await layers.park(kept)
  await layers.park(discarded)
  await Promise.all(opened.splice(0).map((one) => one.close()))
  expect(snapshot(root)).toEqual(before)
  layers = open()
  expect(await layers.keep(kept, 's/1/1/0')).toEqual(['Kept: 1 file changed.'])
  await layers.discard(discarded)
  for (const gone of [kept, discarded, lost]) await expect(layers.keep(gone, 's/1/2/0')).rejects.toThrow('no longer exist')
  expect([text('a.txt'), existsSync(join(root, 'c.txt')), existsSync(join(root, 'd.txt'))]).toEqual(['two\n', false, false])
  expect(await createChangeLog({ dir: join(data, 'changes'), root }).undo('s/1')).toMatchObject({ done: true })
})

test('what is parked is kept only as it was shown', async () => {
  const changes = await ran('echo two > a.txt')
  await layers.park(changes)
  layers = open()
  await expect(layers.keep({ ...changes, hash: 'of others' }, 's/1/1/0')).rejects.toThrow('no longer exist')
  expect(text('a.txt')).toBe('one\n')
})

test('what is discarded never happened, and is not there for the next command', async () => {
  const changes = await ran('echo two > a.txt')
  await layers.discard(changes)
  expect((await layers.run({ script: 'cat a.txt' })).completed.stdout).toBe('one\n')
  await expect(layers.keep(changes, 's/1/1/0')).rejects.toThrow('no longer exist')
  expect(text('a.txt')).toBe('one\n')
})

test('a command that only reads, or changes what git ignores, proposes nothing; later commands see it', async () => {
  expect((await layers.run({ script: 'cat a.txt' })).changes).toBeUndefined()
  const { changes, notes } = await layers.run({ script: 'mkdir dist && echo built > dist/out' })
  expect([changes, notes, existsSync(join(root, 'dist'))]).toEqual([undefined, [expect.stringContaining('Git ignores dist')], false])
  expect((await layers.run({ script: 'cat dist/out' })).completed.stdout).toBe('built\n')
})

test('what changed in ignored files is named, and brought to the workspace by a keep', async () => {
  expect(await layers.ignored.changed()).toEqual([])
  expect(opened).toEqual([])
  await layers.run({ script: 'mkdir -p dist/lib/.git && echo built > dist/out && echo x > dist/lib/.git/config' })
  expect(await layers.ignored.changed()).toEqual(['dist'])
  expect(await layers.ignored.keep()).toEqual([
    'Kept dist, which git ignores; undo does not revert this.',
    'Not kept: dist/lib/.git (it can make programs run outside of the sandbox).',
  ])
  expect([text('dist/out'), await layers.ignored.changed(), await layers.ignored.keep()]).toEqual(['built\n', [], []])
})

test('a command that failed says so, and what it did waits all the same', async () => {
  const { completed, changes } = await layers.run({ script: 'echo two > a.txt; exit 3' })
  expect([completed.exitCode, changes?.targets]).toEqual([3, ['a.txt']])
  if (changes) await layers.discard(changes)
})

test('one that is cut off leaves nothing', async () => {
  const { completed, changes, notes } = await layers.run({ script: 'echo two > a.txt; sleep 30', timeout: 1 })
  expect([completed.reason, changes, notes]).toEqual(['timeout', undefined, [expect.stringContaining('none of its changes were kept')]])
  expect(text('a.txt')).toBe('one\n')
})

test('secret files are empty inside, unless they are allowed; the control sees them', async () => {
  expect((await layers.run({ script: 'cat .env' })).completed.stdout).toBe('')
  expect((await open(['.env']).run({ script: 'cat .env' })).completed.stdout).toBe('TOKEN=1\n')
})

test('a file that the person changed meanwhile is a conflict, and nothing of theirs is lost', async () => {
  const changes = await ran('echo two > a.txt; echo new > c.txt')
  writeFileSync(join(root, 'a.txt'), 'mine\n')
  await expect(layers.keep(changes, 's/1/1/0')).rejects.toMatchObject({ errorType: 'conflict' })
  expect([text('a.txt'), existsSync(join(root, 'c.txt'))]).toEqual(['mine\n', false])
})

test('what is no file can not be kept, and is named', async () => {
  const { changes, notes } = await layers.run({ script: 'mkfifo pipe; echo two > a.txt' })
  expect([changes?.targets, notes]).toEqual([['a.txt'], [expect.stringContaining('pipe (a named pipe)')]])
})

describe('git', () => {
  const COMMIT = 'echo two > a.txt && git -c user.name=a -c user.email=a@b commit -qam two'

  test('a commit is made on the layer, and is in the repository when it is kept', async () => {
    const changes = await ran(COMMIT)
    expect([git('log', '--format=%s'), changes.forced]).toEqual(['one\n', undefined])
    await layers.keep(changes, 's/1/1/0')
    expect([git('log', '--format=%s'), git('status', '--porcelain'), git('fsck')]).toEqual(['two\none\n', '?? .env\n', ''])
  })

  test('another git at work, or another commit since, is a conflict', async () => {
    const changes = await ran(COMMIT)
    writeFileSync(join(root, '.git/index.lock'), '')
    await expect(layers.keep(changes, 's/1/1/0')).rejects.toMatchObject({
      errorType: 'conflict',
      message: expect.stringContaining('index.lock'),
    })
    execFileSync('rm', [join(root, '.git/index.lock')])
    const again = await ran(COMMIT)
    git('-c', 'user.name=b', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'mine')
    await expect(layers.keep(again, 's/1/1/1')).rejects.toMatchObject({ errorType: 'conflict' })
    expect(git('log', '--format=%s')).toBe('mine\none\n')
  })

  test('a look at the repository proposes nothing', async () => {
    const index = readFileSync(join(root, '.git/index'))
    utimesSync(join(root, 'a.txt'), 1, 1)
    const { completed, changes } = await layers.run({ script: 'git status --short; git diff; sha256sum .git/index' })
    expect([completed.stdout.includes('a.txt'), changes]).toEqual([false, undefined])
    // Git did write the index.
    expect(completed.stdout).not.toContain(createHash('sha256').update(index).digest('hex'))
  })

  test('a branch in a folder of its own comes and goes', async () => {
    for (const [at, script] of ['git branch a/b/c', 'git branch -D a/b/c && git branch a'].entries())
      await layers.keep(await ran(script), `s/${at}/1/0`)
    expect(git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/a\nrefs/heads/main\n')
  })

  test.each([
    ['a hook', 'echo x > .git/hooks/pre-commit'],
    ['a setting', 'git config core.fsmonitor ./evil'],
    ['a tool', 'mkdir .mulligan && echo x > .mulligan/tool.mjs'],
  ])('%s is for a person to decide', async (_, script) => {
    expect((await ran(script)).forced).toMatch(/can make programs run outside of the sandbox/)
  })
})

test('two at once are run one after the other', async () => {
  const both = await Promise.all([layers.run({ script: 'echo 1 >> a.txt' }), layers.run({ script: 'echo 2 >> src/b.txt' })])
  for (const [at, { changes }] of both.entries()) if (changes) await layers.keep(changes, `s/1/1/${at}`)
  expect([text('a.txt'), text('src/b.txt')]).toEqual(['one\n1\n', 'b\n2\n'])
})

test('of two that change the same file the second is a conflict; run again, it begins at what the first left', async () => {
  const [one, two] = await Promise.all([ran('echo 1 >> a.txt'), ran('echo 2 >> a.txt; echo new > c.txt')])
  await layers.keep(one, 's/1/1/0')
  await expect(layers.keep(two, 's/1/1/1')).rejects.toMatchObject({
    errorType: 'conflict',
    message: expect.stringMatching(/"a\.txt" changed while.*none of them were kept.*Run the command again/),
  })
  expect([text('a.txt'), existsSync(join(root, 'c.txt'))]).toEqual(['one\n1\n', false])
  await layers.keep(await ran('echo 2 >> a.txt; echo new > c.txt'), 's/1/1/2')
  expect([text('a.txt'), text('c.txt')]).toEqual(['one\n1\n2\n', 'new\n'])
})

test('a link in the workspace leads no change outside', async () => {
  const outside = temporary()
  symlinkSync(outside, join(root, 'out'))
  await layers.run({ script: 'echo x > out/file || true' })
  expect(snapshot(outside)).toEqual({})
})
