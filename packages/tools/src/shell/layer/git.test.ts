/** Git commands on a layer: when kept, the result equals that in a plain copy; after undo, every byte is as before. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, utimesSync } from 'node:fs'
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
let plain: string
let data: string
let sandbox: Sandbox | undefined
let layers: ShellLayers

/** Fixes the dates, so that the same commands create the same objects. */
const FIXED = 'export GIT_AUTHOR_DATE=2020-02-02T02:02:02Z GIT_COMMITTER_DATE=2020-02-02T02:02:02Z;'
const HOME = temporary()
put(HOME, { '.gitconfig': '[protocol "file"]\n\tallow = always\n' })
const bash = (cwd: string, script: string): string =>
  execFileSync('bash', ['-c', `${FIXED} ${script}`], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], HOME, LC_ALL: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' },
  })

const START = `git init -q -b main && git config user.name Ann && git config user.email ann@example.org
  git add a.txt .gitignore src && git commit -qm one && git checkout -q -b topic && echo topic > src/t.txt && git add src && git commit -qm topic
  git checkout -q main && git tag v1`

beforeEach(() => {
  const top = temporary()
  root = join(top, 'work')
  plain = join(top, 'plain')
  data = join(top, 'data')
  for (const folder of [root, data]) mkdirSync(folder)
  put(root, { 'a.txt': 'one\n', 'src/b.txt': 'b\n', '.gitignore': 'dist/\n' })
  bash(root, START)
  const open = memoizedSandbox(async () => {
    sandbox = await createSandbox({ workspace: root, backend: 'bubblewrap', stateFolder: join(data, 'layers') })
    return sandbox
  })
  layers = createLayers({ workspace: createWorkspace(root, { changes: { dir: join(data, 'changes') } }), sandbox: open })
})
afterEach(() => sandbox?.close())

const ran = async (script: string): Promise<ProposedChanges> => {
  const { changes, completed } = await layers.run({ script: `${FIXED} ${script}` })
  if (!changes) throw new Error(`nothing was changed: ${completed.stdout}${completed.stderr}`)
  return changes
}

/** Returns everything git reports about a repository, with its location removed from paths. */
const told = (folder: string, inner = '.'): string =>
  bash(
    join(folder, inner),
    `git fsck --strict 2>&1; git status --porcelain=v2 --branch; git for-each-ref; git stash list; git reflog --all
     git config --local --list | sort; git worktree list --porcelain; git ls-files -s; git diff HEAD; ls .git/hooks 2>/dev/null || true`,
  ).replaceAll(folder, 'FOLDER')

const working = (folder: string) =>
  Object.fromEntries(
    Object.entries(snapshot(folder))
      .filter(([path]) => !/(^|\/)\.git\//.test(path))
      .map(([path, what]) => [path, what.replaceAll(folder, 'FOLDER')]),
  )

test.each([
  ['branch -m', 'git branch -m topic renamed'],
  ['branch -M of the current one', 'git branch -M main trunk'],
  ['remote add', 'git remote add origin https://example.org/a.git && git remote add up ../up.git'],
  ['remote rename', 'git remote add origin https://example.org/a.git && git remote rename origin elsewhere'],
  ['config user.name', 'git config user.name Bob && git config branch.main.description x'],
  ['commit', 'echo two > a.txt && git commit -qam two'],
  ['commit --amend', 'git rm -q src/b.txt && git commit -q --amend -m other'],
  ['stash', 'echo two > a.txt && git stash -q'],
  ['stash pop', 'echo two > a.txt && git stash -q && git stash pop -q'],
  ['tag', 'git tag v2 && git tag -a v3 -m three && git tag -d v1'],
  ['merge', 'git merge -q --no-ff -m merged topic'],
  [
    'merge with a conflict',
    'git checkout -q topic && echo x > a.txt && git commit -qam x && git checkout -q main && echo y > a.txt && git commit -qam y; git merge topic || true',
  ],
  ['rebase', 'echo y > c.txt && git add c.txt && git commit -qm c && git checkout -q topic && git rebase -q main'],
  ['cherry-pick', 'git cherry-pick topic'],
  ['checkout -b', 'git checkout -q -b new && git mv a.txt moved.txt'],
  ['branch --track', 'git checkout -q --track -b follows topic'],
  ['reset --hard', 'git reset -q --hard topic'],
  ['worktree add', 'git worktree add -q wt topic'],
  ['branch -m out of a folder', 'git branch a/b && git branch -m a/b c'],
  ['gc', 'git gc -q --prune=now'],
  [
    'init in a new folder',
    'mkdir new && cd new && git init -q -b main && git config user.email a@b && git config user.name c && echo x > x && git add x && git commit -qm x',
  ],
])('git %s', async (name, script) => {
  const before = snapshot(root)
  cpSync(root, plain, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  bash(plain, script)
  const changes = await ran(script)
  expect([snapshot(root), changes.forced]).toEqual([before, undefined])
  await layers.keep(changes, 's/1/1/0')
  const folders = ['.', ...(name.startsWith('worktree add') ? ['wt'] : []), ...(name.startsWith('init') ? ['new'] : [])]
  for (const inner of folders) expect(told(root, inner)).toBe(told(plain, inner))
  expect(working(root)).toEqual(working(plain))
  const log = createChangeLog({ dir: join(data, 'changes'), root })
  expect(await log.undo('s/1')).toMatchObject({ done: true })
  expect(snapshot(root)).toEqual(before)
  expect(bash(root, 'git status --porcelain; git fsck')).toBe('')
})

test('a look at the repository while it waits, and before an undo, is no conflict; what is staged is', async () => {
  const script = 'echo two > a.txt && git commit -qam two'
  const look = () => {
    const index = readFileSync(join(root, '.git/index'))
    utimesSync(join(root, 'src/b.txt'), new Date(), new Date(Date.now() - Math.random() * 1e9))
    bash(root, 'git status')
    expect(readFileSync(join(root, '.git/index')).equals(index)).toBe(false)
  }
  const changes = await ran(script)
  look()
  await layers.keep(changes, 's/1/1/0')
  look()
  const log = createChangeLog({ dir: join(data, 'changes'), root })
  expect(await log.undo('s/1')).toMatchObject({ done: true, conflicts: [] })
  const again = await ran(script)
  bash(root, 'echo mine > src/b.txt && git add src/b.txt')
  await expect(layers.keep(again, 's/2/1/0')).rejects.toMatchObject({ errorType: 'conflict' })
})

test('a worktree that was added on a layer is removed on the next', async () => {
  const before = bash(root, 'git worktree list; git branch --list')
  await layers.keep(await ran('git worktree add -q wt topic'), 's/1/1/0')
  const changes = await ran('git worktree remove wt')
  expect(changes.forced).toBeUndefined()
  await layers.keep(changes, 's/1/1/1')
  expect(bash(root, 'git worktree list; git branch --list; git fsck')).toBe(before)
})

describe('for a person to decide', () => {
  test.each([
    ['core.hooksPath', 'git config core.hooksPath hooks', /sets core\.hookspath in \.git\/config/],
    ['core.sshCommand', 'git config core.sshCommand ./evil', /core\.sshcommand/],
    ['an alias', "git config alias.st '!./evil'", /alias\.st/],
    ['a filter', 'git config filter.x.clean ./evil', /filter\.x\.clean/],
    ['credential.helper', 'git config credential.helper ./evil', /credential\.helper/],
    ['include.path', 'git config include.path ../more', /include\.path/],
    [
      'by hand, with a key that is harmless beside it',
      "printf '[user]\\nname = b\\n[core]\\nfsmonitor = ./evil\\n' >> .git/config",
      /core\.fsmonitor/,
    ],
    ['a remote that is led elsewhere', 'git remote add o https://a && git config remote.o.pushurl ext::evil', /remote\.o\.pushurl/],
    ['settings that git can not read', 'echo [ >> .git/config', /changes \.git\/config/],
    ['settings by a link', 'cp .git/config c && ln -sf ../c .git/config', /changes \.git\/config/],
    ['a hook', 'echo x > .git/hooks/pre-commit', /changes \.git\/hooks\/pre-commit/],
    ['a hook in a new repository', 'git init -q new && echo x > new/.git/hooks/post-checkout', /new\/\.git\/hooks\/post-checkout/],
    ['settings of a new repository', 'git init -q new && git -C new config core.fsmonitor ./evil', /core\.fsmonitor in new\/\.git\/config/],
    [
      'settings of a worktree',
      'git config extensions.worktreeConfig true; git worktree add -q wt topic && git -C wt config --worktree core.pager ./evil',
      /core\.pager/,
    ],
    ['a repository led elsewhere', 'mkdir wt evil && echo "gitdir: ../evil" > wt/.git', /wt\/\.git/],
    ['commondir', 'echo ../evil > .git/commondir', /\.git\/commondir/],
    ['another spelling', 'mkdir -p x/.GIT && echo x > x/.GIT/config', /x\/\.GIT/],
    [
      'commands of a rebase',
      'git checkout -q topic; GIT_SEQUENCE_EDITOR="printf \'exec false\\nexec ./evil\\n\' >" git rebase -q -i main',
      /leaves commands in \.git\/rebase-merge/,
    ],
    ['a folder of objects elsewhere', 'mv .git/objects ob && ln -s ../ob .git/objects', /changes \.git\/objects/],
    ['a tool', 'mkdir .mulligan && echo x > .mulligan/tool.mjs', /changes \.mulligan/],
    ['settings of Mulligan', 'echo {} > mulligan.json', /changes mulligan\.json/],
  ])('%s', async (_, script, why) => {
    const changes = await ran(script)
    expect(changes.forced).toMatch(why)
    expect(changes.forced).toMatch(/can make programs run outside of the sandbox$/)
  })

  test("settings that were there before are the person's own", async () => {
    bash(root, 'git config core.hooksPath .husky; git config alias.st "!true"')
    const changes = await ran('git remote add origin https://example.org/a.git')
    expect(changes.forced).toBeUndefined()
    expect(changes.diff).toContain('+[remote "origin"]')
  })
})
