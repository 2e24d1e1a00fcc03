import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isMulliganError } from '@mulligan/core/executor'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { createWorkspace } from '../create-workspace.ts'
import { put as putAll, run, temporary } from '../workspace.fixture.ts'
import { canary, freshHome, repository } from './git.fixture.ts'
import { TRAPS, type Trap } from './hostile.fixture.ts'
import { gitTools } from './index.ts'

beforeAll(() => void freshHome())
afterEach(() => vi.unstubAllEnvs())

const READS = [
  ['git_status', {}],
  ['git_diff', {}],
  ['git_diff', { what: 'unstaged' }],
  ['git_diff', { range: 'HEAD' }],
  ['git_log', { path: 'a.txt' }],
] as const
const COMMIT = ['git_commit', { message: 'A message', all: true }] as const

/** Where the repository is: its folder and the workspace's, in a temporary one, and the tools' `repo`. */
const PLACES = [
  { where: 'the workspace', folder: '.', workspace: '.', repo: '.' },
  { where: 'a repository around the workspace', folder: '.', workspace: 'below', repo: '.' },
  { where: 'a folder of the workspace', folder: 'sub', workspace: '.', repo: 'sub' },
] as const

function place({ set }: Trap, { folder, workspace }: (typeof PLACES)[number]) {
  const base = temporary()
  const root = join(base, folder)
  putAll(root, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'below/c.txt': 'c\n' })
  const { script, sign } = canary(temporary())
  const sh = (command: string) =>
    spawnSync('/bin/sh', ['-c', command], { cwd: root, encoding: 'utf8', input: '', timeout: 20_000, env: { ...process.env } })
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout
  sh('git init -q -b main && git config user.name Ann && git config user.email a@b && git add -A && git commit -qm one')
  writeFileSync(join(root, 'a.txt'), 'A\n')
  set({ folder: root, git, script })
  rmSync(sign, { force: true })
  const tools = gitTools(createWorkspace(join(base, workspace)))
  return { sh, sign, tool: (name: string) => tools.find((one) => one.name === name) as (typeof tools)[number] }
}

/** Runs a tool and ignores refusals. A refused repository runs nothing either. */
const use = (tool: Parameters<typeof run>[0], input: object): Promise<unknown> =>
  run(tool, input).catch((error: unknown) => {
    if (!isMulliganError(error)) throw error
  })

/** `npm test` sets all traps in the workspace itself, and one in the other places. */
const trapsIn = (where: object) => (isAll || where === PLACES[0] ? TRAPS : TRAPS.filter(({ what }) => what === 'filter.NAME.clean'))

describe.each(PLACES)('nothing that the repository names is run in $where', (where) => {
  test.each(trapsIn(where))('$what', async (trap) => {
    const { sh, sign, tool } = place(trap, where)
    expect(await run(tool('git_status'), { repo: where.repo })).toMatchObject({ ok: true })
    for (const [name, input] of READS) await use(tool(name), { repo: where.repo, ...input })
    expect(existsSync(sign), 'by a tool that reads').toBe(false)
    if (!trap.byCommit || where.repo !== '.') await use(tool(COMMIT[0]), { repo: where.repo, ...COMMIT[1] })
    expect(existsSync(sign), 'by git_commit').toBe(false)
    // Control: git itself does run it.
    sh(`echo again >> a.txt; ${trap.spring}`)
    expect(existsSync(sign), 'by git').toBe(true)
  })
})

test('a bare repository among the files is not looked into', async () => {
  const trap = TRAPS.find(({ what }) => what.startsWith('a bare')) as Trap
  const { sign, tool } = place(trap, PLACES[0])
  for (const [name, input] of [...READS, COMMIT]) await use(tool(name), { ...input, repo: 'bare' })
  expect(existsSync(sign)).toBe(false)
})

test('settings that change between two looks are not read', async () => {
  const r = repository({ 'a.txt': 'a\n' })
  r.put({ 'sub/f.txt': 'f\n', 'sub/.gitattributes': '*.txt filter=x\n' })
  const inSub = (...args: string[]) => r.git('-C', 'sub', ...args)
  inSub('init', '--quiet')
  inSub('add', '--all')
  inSub('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'one')
  const { script, sign } = canary(temporary())
  // As a background command would at the worst moment: after the filters' names were read.
  const bin = temporary()
  const real = spawnSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim()
  const late = `case "$*" in *status*) printf '[filter "x"]\\n\\tclean = ${script}\\n' >> '${r.root}/sub/.git/config' ;; esac`
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${late}\nexec '${real}' "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)
  r.put({ 'sub/f.txt': 'F\n' })
  vi.stubEnv('PATH', `${bin}${delimiter}${process.env['PATH']}`)
  await run(r.tool('git_status'), { repo: 'sub' })
  expect(existsSync(sign)).toBe(false)
  // Control: by now the settings are there.
  inSub('status')
  expect(existsSync(sign)).toBe(true)
})

describe('git is none of the project', () => {
  const own = (root: string, folder: string): string => {
    const { sign } = canary(root, 'own-git')
    putAll(root, { [join(folder, 'git')]: `#!/bin/sh\ntouch '${sign}'\n` })
    chmodSync(join(root, folder, 'git'), 0o755)
    return sign
  }
  test.each([
    ['node_modules/.bin', (root: string) => join(root, 'node_modules/.bin')],
    ['a relative entry', () => 'node_modules/.bin'],
    ['the working folder', () => '.'],
    ['an empty entry', () => ''],
    [
      'a link',
      (root: string) => {
        const link = join(temporary(), 'bin')
        symlinkSync(join(root, 'node_modules/.bin'), link)
        return link
      },
    ],
  ])('%s first in PATH', async (_, entry) => {
    const r = repository({ 'a.txt': 'a\n' })
    const sign = own(r.root, 'node_modules/.bin')
    own(r.root, '.')
    const first = entry(r.root)
    // Control: looked up by name, it would be the project's.
    spawnSync('/bin/sh', ['-c', 'git status'], { cwd: r.root, env: { PATH: [first, '/usr/bin', '/bin'].join(delimiter) } })
    expect(existsSync(sign)).toBe(true)
    rmSync(sign)
    vi.stubEnv('PATH', [first, process.env['PATH']].join(delimiter))
    vi.spyOn(process, 'cwd').mockReturnValue(r.root)
    await run(r.tool('git_status'), {})
    await run(r.tool('git_commit'), { message: 'A message', all: true })
    expect(existsSync(sign)).toBe(false)
  })
})

test('a linked working tree is read without settings too, and committed to', async () => {
  const r = repository({ 'a.txt': 'a\n' })
  const { script, sign } = canary(temporary())
  const tree = join(temporary(), 'tree')
  r.git('worktree', 'add', '--quiet', tree)
  r.git('config', 'core.fsmonitor', script)
  mkdirSync(join(tree, 'new'))
  putAll(tree, { 'new/b.txt': 'b\n' })
  const tools = gitTools(createWorkspace(tree))
  const status = await run(tools.find(({ name }) => name === 'git_status') as (typeof tools)[number], {})
  expect(status.data).toMatchObject({ branch: 'tree', untracked: ['new/'] })
  expect(existsSync(sign)).toBe(false)
  spawnSync('git', ['status'], { cwd: tree })
  expect(existsSync(sign)).toBe(true)
})
