import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tool } from '@mulligan/core'
import { conformance } from '@mulligan/testing'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createWorkspace } from '../create-workspace.ts'
import { put, refused, run, temporary } from '../workspace.fixture.ts'
import { configEntries, ownFilters } from './common/config.ts'
import { withoutPaths } from './common/process.ts'
import { canary, freshHome, repository } from './git.fixture.ts'
import { gitTools } from './index.ts'

let home: string
beforeAll(() => {
  home = freshHome()
})

type Repo = ReturnType<typeof repository>
const READS = [
  ['git_status', {}],
  ['git_diff', {}],
  ['git_diff', { what: 'unstaged' }],
  ['git_diff', { what: 'staged' }],
  ['git_log', {}],
  ['git_log', { path: 'a.txt' }],
] as const

const readAll = async (r: Repo): Promise<void> => {
  for (const [name, input] of READS) await run(r.tool(name), input)
}

test('what only reads changes no byte, of .git neither', async () => {
  const r = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'same.txt': 's\n' })
  r.put({ 'a.txt': 'A\n', 'new.txt': 'n\n', 'b.txt': 'B\n' })
  r.git('add', 'b.txt')
  // Git would record in the index that the file is unchanged.
  utimesSync(join(r.root, 'same.txt'), 1, 1)
  const before = bytesOf(r.root)
  await readAll(r)
  expect(bytesOf(r.root)).toEqual(before)
  // Control: plain git, with the new file added in the repository.
  r.git('status')
  r.git('add', '--intent-to-add', 'new.txt')
  expect(bytesOf(r.root)).not.toEqual(before)
})

const bytesOf = (root: string): Map<string, string> =>
  new Map(
    readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isFile() ? readFileSync(path, 'latin1') : 'folder']
    }),
  )

describe('a hostile repository runs nothing while it is read', () => {
  /** What is configured, and a plain git command that triggers it. */
  const TRAPS: readonly [what: string, set: (r: Repo, script: string) => void, spring: (r: Repo) => void][] = [
    ['core.fsmonitor', (r, script) => r.git('config', 'core.fsmonitor', script), (r) => r.git('status')],
    ['diff.external', (r, script) => r.git('config', 'diff.external', script), (r) => r.git('diff')],
    [
      'a diff driver',
      (r, script) => {
        r.git('config', 'diff.x.command', script)
        r.put({ '.gitattributes': '*.txt diff=x\n' })
      },
      (r) => r.git('diff'),
    ],
    [
      'textconv',
      (r, script) => {
        r.git('config', 'diff.x.textconv', script)
        r.put({ '.gitattributes': '*.txt diff=x\n' })
      },
      (r) => r.git('diff'),
    ],
    ['a pager', (r, script) => r.git('config', 'core.pager', script), (r) => r.git('grep', '-O', 'A')],
    [
      'a filter',
      (r, script) => {
        r.git('config', 'filter.x.clean', script)
        r.git('config', 'filter.x.required', 'true')
        r.put({ '.gitattributes': '*.txt filter=x\n' })
      },
      (r) => r.git('diff'),
    ],
    [
      'a filter that stays running, with a name made to be misread',
      (r, script) => {
        writeFileSync(join(r.root, '.git/config'), `[filter "x=y.clean"]\n\tprocess = ${script}\n\tclean = ${script}\n`, { flag: 'a' })
        r.put({ '.gitattributes': '*.txt filter=x=y.clean\n' })
      },
      (r) => r.git('diff'),
    ],
    [
      'settings that are included',
      (r, script) => {
        r.put({ 'inc.cfg': `[core]\n\tfsmonitor = ${script}\n[filter "x"]\n\tclean = ${script}\n`, '.gitattributes': '*.txt filter=x\n' })
        r.git('config', 'include.path', '../inc.cfg')
      },
      (r) => r.git('status'),
    ],
    [
      'a hook on the index',
      (r, script) => {
        r.put({ '.git/hooks/post-index-change': `#!/bin/sh\nexec ${script} </dev/null\n` })
        chmodSync(join(r.root, '.git/hooks/post-index-change'), 0o755)
      },
      (r) => r.git('add', 'a.txt'),
    ],
    [
      'a program that checks signatures',
      (r, script) => {
        r.git('config', 'log.showSignature', 'true')
        r.git('config', 'gpg.program', script)
        const tree = r.git('write-tree').trim()
        const head = `tree ${tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n`
        const signed = `${head}gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`
        writeFileSync(join(r.root, '.git/signed'), signed)
        r.git('reset', '--quiet', '--soft', r.git('hash-object', '-t', 'commit', '-w', '.git/signed').trim())
      },
      (r) => r.git('log'),
    ],
    [
      'a promise that missing objects are fetched',
      (r, script) => {
        r.git('config', 'core.repositoryFormatVersion', '1')
        r.git('config', 'extensions.partialClone', 'evil')
        r.git('config', 'remote.evil.url', `ext::timeout 1 ${script}`)
        r.git('config', 'remote.evil.promisor', 'true')
        r.git('config', 'protocol.ext.allow', 'always')
      },
      (r) => r.git('cat-file', '-p', '1'.repeat(40)),
    ],
    ['an alias', (r, script) => r.git('config', 'alias.st', `!${script}`), (r) => r.git('st')],
  ]

  test.each(TRAPS)('%s', async (_, set, spring) => {
    const r = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const { script, sign } = canary(temporary())
    r.put({ 'a.txt': 'A\n' })
    set(r, script)
    await readAll(r)
    expect(existsSync(sign)).toBe(false)
    try {
      spring(r)
    } catch {
      // It only matters whether it ran.
    }
    expect(existsSync(sign)).toBe(true)
  })

  test('missing objects are not fetched', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const { script, sign } = canary(temporary())
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'evil'],
      ['remote.evil.url', `ext::timeout 1 ${script}`],
      ['remote.evil.promisor', 'true'],
      ['protocol.ext.allow', 'always'],
    ] as const)
      r.git('config', key, value)
    writeFileSync(join(r.root, '.git/refs/heads/far'), `${'1'.repeat(40)}\n`)
    await refused(r.tool('git_log'), { ref: 'far' })
    await refused(r.tool('git_diff'), { range: 'far' })
    expect(existsSync(sign)).toBe(false)
    expect(() => r.git('diff', 'far')).toThrow()
    expect(existsSync(sign)).toBe(true)
  })

  test("the person's own filters stay, whatever the repository makes of them", async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const own = canary(temporary(), 'own')
    const evil = canary(temporary(), 'evil')
    writeFileSync(join(home, '.gitconfig'), `[filter "x"]\n\tclean = ${own.script}\n`)
    r.git('config', 'filter.x.clean', evil.script)
    r.put({ '.gitattributes': '*.txt filter=x\n', 'a.txt': 'A\n' })
    const result = await run(r.tool('git_diff'), {})
    writeFileSync(join(home, '.gitconfig'), '')
    expect([existsSync(own.sign), existsSync(evil.sign)]).toEqual([true, false])
    expect(result.notes).toEqual([expect.stringContaining('filters (x) are not run')])
  })
})

describe('where a repository may lie', () => {
  test('a bare repository among the files, whose settings the model could write, is none', async () => {
    const root = temporary()
    const r = repository({ 'a.txt': 'a\n' })
    const { script, sign } = canary(temporary())
    r.git('clone', '--quiet', '--bare', r.root, join(root, 'trap'))
    put(root, { 'trap/config': `[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = ${script}\n` })
    for (const tool of gitTools(createWorkspace(root))) {
      const message = tool.name === 'git_commit' ? { message: 'A message' } : {}
      expect((await refused(tool, { repo: 'trap', ...message })).status).toBe('failed')
    }
    expect(existsSync(sign)).toBe(false)
    r.git('-C', join(root, 'trap'), '--work-tree=..', 'status')
    expect(existsSync(sign)).toBe(true)
  })

  test('a .git file that leads to a folder which the model can write', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const root = temporary()
    r.git('clone', '--quiet', '--bare', r.root, join(root, 'store'))
    r.git('-C', join(root, 'store'), 'worktree', 'add', '--quiet', join(root, 'tree'))
    const [status] = gitTools(createWorkspace(root))
    expect(await refused(status as Tool, { repo: 'tree' })).toMatchObject({ status: 'failed', errorType: 'permission' })
  })

  test('a working tree elsewhere is not looked at', async () => {
    const secret = temporary()
    put(secret, { 'key.txt': 'secret\n' })
    const r = repository({ 'key.txt': 'x\n' })
    r.git('config', 'core.worktree', secret)
    expect(r.git('-C', '.', 'diff')).toContain('secret')
    for (const name of ['git_status', 'git_diff', 'git_log']) expect(await refused(r.tool(name), {})).toMatchObject({ status: 'failed' })
  })

  test('inside .git there is no working tree', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    expect(await refused(r.tool('git_status'), { repo: '.git' })).toMatchObject({ status: 'failed', errorType: 'unsupported' })
  })
})

describe('the process', () => {
  beforeEach(() => {
    home = freshHome()
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    home = freshHome()
  })

  test('knows no key and is not led elsewhere by the environment', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const other = repository({ 'other.txt': 'o\n' })
    const out = join(temporary(), 'env')
    r.put({ '.git/hooks/pre-commit': `#!/bin/sh\nenv > '${out}'\n`, 'a.txt': 'A\n' })
    chmodSync(join(r.root, '.git/hooks/pre-commit'), 0o755)
    vi.stubEnv('SOME_API_KEY', 'sk-secret')
    vi.stubEnv('GIT_DIR', join(other.root, '.git'))
    vi.stubEnv('GIT_EXTERNAL_DIFF', 'false')
    vi.stubEnv('GIT_CONFIG_PARAMETERS', `'alias.x'='!false'`)
    expect((await run(r.tool('git_log'), {})).content).not.toContain('other')
    expect((await run(r.tool('git_status'), {})).content).toContain('modified: a.txt')
    await run(r.tool('git_commit'), { message: 'A message', all: true })
    const seen = readFileSync(out, 'utf8')
    expect(seen).toContain('PATH=')
    expect(seen).not.toMatch(/SOME_API_KEY|GIT_EXTERNAL_DIFF|alias\.x/)
  })

  test('git that is missing, and git that is too old', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const bin = temporary()
    vi.stubEnv('PATH', bin)
    expect(await refused(r.tool('git_status'), {})).toMatchObject({
      errorType: 'config',
      message: expect.stringContaining('not installed'),
    })
    writeFileSync(join(bin, 'git'), '#!/bin/sh\necho git version 2.30.9\n', { mode: 0o755 })
    expect(await refused(r.tool('git_status'), {})).toMatchObject({ errorType: 'config', message: expect.stringContaining('2.31') })
  })

  test('a folder of another user: the command is given', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    const bin = temporary()
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh\ncase "$*" in *version*) echo git version 2.40.0;; *) echo "fatal: detected dubious ownership in repository at '${r.root}'" >&2; exit 128;; esac\n`,
      { mode: 0o755 },
    )
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
    const error = await refused(r.tool('git_status'), {})
    expect(error).toMatchObject({ errorType: 'config', message: expect.stringContaining('git config --global --add safe.directory') })
    expect(error.message).not.toContain(r.root)
  })

  test('a broken config', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    writeFileSync(join(r.root, '.git/config'), '[core\n')
    const error = await refused(r.tool('git_status'), {})
    expect(error).toMatchObject({ status: 'failed', errorType: 'config' })
    expect(error.message).not.toContain(r.root)
  })
})

test('the settings are read, and what filters the repository itself names', () => {
  const listed = [
    ...['global', 'file:/home/a/.gitconfig', 'filter.lfs.clean\ngit-lfs clean -- %f'],
    ...['local', 'file:.git/config', 'filter.a=b.clean.process\nevil\nlines'],
    ...['local', 'file:.git/config', 'core.bare'],
    '',
  ].join('\0')
  const entries = configEntries(listed)
  expect(entries.map(({ scope, key, value }) => [scope, key, value])).toEqual([
    ['global', 'filter.lfs.clean', 'git-lfs clean -- %f'],
    ['local', 'filter.a=b.clean.process', 'evil\nlines'],
    ['local', 'core.bare', ''],
  ])
  expect(ownFilters(entries)).toEqual(['a=b.clean'])
})

test('paths of this machine are taken out of what git says', () => {
  const root = '/srv/work'
  expect(withoutPaths("fatal: '/srv/work/a.txt' and /srv/work and /opt/x/y.txt, see https://a.b/c/d", root)).toBe(
    "fatal: 'a.txt' and . and …/y.txt, see https://a.b/c/d",
  )
})

/** Creates a repository with a commit, which an example's files cannot describe. */
function withCommit(dir: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir })
  git('init', '--quiet', '--initial-branch=main')
  git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', 'commit', '--quiet', '--allow-empty', '--message=Begin')
}

test('the tools keep the contract', async () => {
  mkdirSync(home, { recursive: true })
  const report = await conformance((dir) => gitTools(createWorkspace(dir)), { prepare: withCommit })
  const faults = report.tools.flatMap(({ tool, checks }) =>
    checks.filter(({ outcome }) => outcome === 'fail').map(({ check, why }) => `${tool} ${check}: ${why}`),
  )
  expect(faults).toEqual([])
  expect(report).toMatchObject({ conforms: true, tools: { length: 4 } })
})
