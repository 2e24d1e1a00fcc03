import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { run, temporary } from '../../workspace.fixture.ts'
import { canary, freshHome, repository } from '../git.fixture.ts'

beforeAll(() => void freshHome())

type Repo = ReturnType<typeof repository>
const commit = (r: Repo, input: object) => run(r.tool('git_commit'), { message: 'A message', ...input })

/** Creates a repository in a subfolder of the workspace, as a command could. */
function nested(options = {}) {
  const r = repository({ 'a.txt': 'a\n' }, options)
  const { script, sign } = canary(temporary())
  const inSub = (...args: string[]) => r.git('-C', 'sub', ...args)
  r.put({ 'sub/f.txt': 'f\n' })
  inSub('init', '--quiet')
  inSub('config', 'user.name', 'Ann')
  inSub('config', 'user.email', 'ann@example.org')
  const commitPlain = () => {
    try {
      inSub('commit', '--quiet', '--message', 'plain', '--allow-empty')
    } catch {
      // Its output is not a valid signature.
    }
  }
  return { r, script, sign, inSub, commitPlain }
}
type Nested = ReturnType<typeof nested>

const TRAPS: readonly [what: string, set: (one: Nested) => void][] = [
  [
    'a hook',
    ({ r, script }) => {
      writeFileSync(join(r.root, 'sub/.git/hooks/pre-commit'), `#!/bin/sh\n'${script}' </dev/null\n`)
      chmodSync(join(r.root, 'sub/.git/hooks/pre-commit'), 0o755)
    },
  ],
  [
    'a filter',
    ({ r, script, inSub }) => {
      inSub('config', 'filter.x.clean', `${script}; true`)
      r.put({ 'sub/.gitattributes': '*.txt filter=x\n' })
    },
  ],
  [
    'a program that signs',
    ({ script, inSub }) => {
      inSub('config', 'gpg.program', script)
      inSub('config', 'commit.gpgSign', 'true')
    },
  ],
  ['core.fsmonitor', ({ script, inSub }) => inSub('config', 'core.fsmonitor', script)],
]

describe('a repository in a folder of the workspace runs nothing of its own', () => {
  test.each(TRAPS)('%s', async (_, set) => {
    const one = nested()
    set(one)
    const result = await commit(one.r, { repo: 'sub', all: true })
    expect(result).toMatchObject({ count: 1, data: { hooks: [] }, notes: [expect.stringContaining('do not run')] })
    expect(existsSync(one.sign)).toBe(false)
    // Control: plain git does run it.
    one.r.put({ 'sub/f.txt': 'g\n' })
    one.inSub('add', '--all')
    one.commitPlain()
    expect(existsSync(one.sign)).toBe(true)
  })

  test.each(['a .git that names another folder', 'a link', 'a commondir', 'core.worktree'])('nor by %s', async (how) => {
    const one = nested()
    TRAPS[0]?.[1](one)
    const { r, sign } = one
    const elsewhere = join(temporary(), 'git')
    const at = how === 'a link' || how === 'a commondir' ? '.' : 'sub'
    renameSync(join(r.root, 'sub/.git'), elsewhere)
    if (how === 'a link') {
      renameSync(join(r.root, '.git'), join(r.root, '..', `${Date.now()}.old`))
      symlinkSync(elsewhere, join(r.root, '.git'))
    } else if (how === 'a commondir') r.put({ '.git/commondir': `${elsewhere}\n` })
    else {
      r.put({ 'sub/.git': `gitdir: ${elsewhere}\n` })
      if (how === 'core.worktree') r.git('-C', 'sub', 'config', 'core.worktree', r.root)
    }
    await commit(r, { repo: at, all: true }).catch(() => undefined)
    expect(existsSync(sign)).toBe(false)
    // Control: plain git does run it.
    r.git('-C', at, 'commit', '--quiet', '--allow-empty', '--message', 'plain')
    expect(existsSync(sign)).toBe(true)
  })

  test('but where that is set', async () => {
    const one = nested({ hooks: 'all' })
    TRAPS[0]?.[1](one)
    await commit(one.r, { repo: 'sub', all: true })
    expect(existsSync(one.sign)).toBe(true)
  })

  test('nor when it is part of the index of the one above', async () => {
    const one = nested()
    const { r, sign, inSub } = one
    inSub('add', '--all')
    inSub('commit', '--quiet', '--message', 'one')
    r.git('add', 'sub')
    r.save()
    inSub('commit', '--quiet', '--allow-empty', '--message', 'two')
    TRAPS[3]?.[1](one)
    r.put({ 'a.txt': 'A\n', 'sub/f.txt': 'F\n' })
    const result = await commit(r, { all: true })
    expect(result.data['files']).toMatchObject([{ path: 'a.txt' }, { path: 'sub' }])
    r.put({ 'a.txt': 'B\n' })
    await commit(r, { paths: ['a.txt', 'sub'] })
    for (const name of ['git_status', 'git_diff', 'git_log']) await run(r.tool(name), {})
    expect(existsSync(sign)).toBe(false)
    // Control: plain git does run it.
    r.git('add', '--all')
    expect(existsSync(sign)).toBe(true)
  })

  test('a folder that is called .git and no repository changes nothing', async () => {
    const { r } = nested()
    mkdirSync(join(r.root, 'plain'))
    r.put({ 'plain/p.txt': 'p\n' })
    expect(await commit(r, { repo: 'plain', all: true })).not.toHaveProperty('notes')
  })
})
