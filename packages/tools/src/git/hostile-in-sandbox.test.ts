/** `git` in a sandboxed command: it does what the command asks, but runs nothing that a repository names. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError, createSandbox, type Sandbox, type SandboxOptions } from '@mulligan/sandbox'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { BACKEND } from '../shell/shell.fixture.ts'
import { put as putAll, temporary } from '../workspace.fixture.ts'
import { canary, freshHome } from './git.fixture.ts'
import { TRAPS, type Trap } from './hostile.fixture.ts'

/** True for backends with isolation. With `none`, a command runs just as on the host. */
const hasWalls = BACKEND !== 'none'

beforeAll(() => void freshHome())

const open: Sandbox[] = []
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close()
})

const COMMANDS = 'git status; git diff; git log -p; git show; git add --all; git commit --message x; git commit --allow-empty --message y'

/** Creates a workspace whose repository, or one in `folder`, contains the trap. The canary is visible in the sandbox. */
function place({ set }: Trap, folder = '.') {
  const workspace = temporary()
  const root = join(workspace, folder)
  putAll(root, { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  const { script, sign } = canary(workspace)
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['config', 'user.name', 'Ann'],
    ['config', 'user.email', 'a@b'],
    ['add', '-A'],
  ])
    git(...args)
  git('commit', '-qm', 'one')
  writeFileSync(join(root, 'a.txt'), 'A\n')
  set({ folder: root, git, script })
  rmSync(sign, { force: true })
  const inSandbox = async (command: string, options: Partial<SandboxOptions> = {}) => {
    const sandbox = await createSandbox({ workspace, ...options })
    open.push(sandbox)
    return sandbox.run({ script: command, timeout: 30 }).catch((error: unknown) => {
      if (error instanceof CommandError) return error.completed
      throw error
    })
  }
  return { workspace, sign, inSandbox }
}

describe.skipIf(!hasWalls)("git in a command runs nothing that the workspace's repository names", () => {
  test.each(TRAPS)('$what', async (trap) => {
    const { workspace, sign, inSandbox } = place(trap)
    const done = await inSandbox(
      `git status --short; (${COMMANDS}); (mkdir -p below && cd below && git status); git -C '${workspace}' diff; echo again >> a.txt; ${trap.spring}`,
    )
    // Git accepts it as a repository.
    expect(done.stdout).toContain('a.txt')
    expect(existsSync(sign)).toBe(false)
    // Control, and how a user lifts the restriction.
    await inSandbox(`echo once more >> a.txt; ${trap.spring}`, { gitPrograms: 'run' })
    expect(existsSync(sign)).toBe(true)
  })
})

/** `npm test` sets one trap in three. */
const UNNAMED = TRAPS.filter(({ named }) => !named).filter((_, index) => isAll || index % 3 === 0)

describe.skipIf(!hasWalls)('nor what a repository in a folder names, as far as one setting turns it off', () => {
  test.each(UNNAMED)('$what', async (trap) => {
    const { sign, inSandbox } = place(trap, 'sub')
    await inSandbox(`(cd sub; ${COMMANDS}; echo again >> a.txt; ${trap.spring}); cd /tmp; git -C "$OLDPWD/sub" status`)
    expect(existsSync(sign)).toBe(false)
    await inSandbox(`cd sub; echo once more >> a.txt; ${trap.spring}`, { gitPrograms: 'run' })
    expect(existsSync(sign)).toBe(true)
  })
})

test.skipIf(!hasWalls)('a linked working tree: the settings and hooks of the repository that it belongs to', async () => {
  const trap = TRAPS.find(({ what }) => what === 'core.fsmonitor') as Trap
  const { workspace } = place(trap)
  const tree = join(temporary(), 'tree')
  spawnSync('git', ['worktree', 'add', '-q', tree], { cwd: workspace })
  const { script, sign } = canary(tree)
  spawnSync('git', ['config', 'core.fsmonitor', script], { cwd: workspace })
  for (const gitPrograms of ['ignore', 'run'] as const) {
    const sandbox = await createSandbox({ workspace: tree, gitPrograms })
    open.push(sandbox)
    expect((await sandbox.run({ script: 'git status --short' })).stdout).toContain('canary.sh')
    expect(existsSync(sign)).toBe(gitPrograms === 'run')
  }
})

test.skipIf(!hasWalls)('what a filter has to convert is refused, not committed as it stands', async () => {
  const { inSandbox } = place({
    what: '',
    spring: '',
    set: ({ git, folder }) => {
      git('config', 'filter.crypt.clean', 'tr a-z A-Z')
      git('config', 'filter.crypt.required', 'true')
      writeFileSync(join(folder, '.gitattributes'), '*.key filter=crypt\n')
      writeFileSync(join(folder, 'a.key'), 'secret\n')
    },
  })
  const { exitCode, stderr } = await inSandbox('git add a.key')
  expect([exitCode, stderr]).toEqual([128, expect.stringContaining("clean filter 'crypt' failed")])
  const { stdout } = await inSandbox('git add a.key && git show :a.key', { gitPrograms: 'run' })
  expect(stdout).toBe('SECRET\n')
})

test.skipIf(!hasWalls)("a project's own programs do not stand for git and the shell", async () => {
  const { workspace, sign, inSandbox } = place({ what: '', spring: '', set: () => {} })
  for (const name of ['git', 'bash', 'sh', 'node'])
    spawnSync(
      '/bin/sh',
      [
        '-c',
        `mkdir -p node_modules/.bin && printf '#!/bin/sh\\ntouch "${sign}"\\n' > node_modules/.bin/${name} && chmod +x node_modules/.bin/${name}`,
      ],
      { cwd: workspace },
    )
  const PATH = `${join(workspace, 'node_modules/.bin')}:${process.env['PATH']}`
  for (const backend of ['bubblewrap', 'none'] as const) await inSandbox('git status', { backend, hostEnv: { ...process.env, PATH } })
  expect(existsSync(sign)).toBe(false)
  await inSandbox('PATH="$PWD/node_modules/.bin:$PATH"; git status')
  expect(existsSync(sign)).toBe(true)
})
