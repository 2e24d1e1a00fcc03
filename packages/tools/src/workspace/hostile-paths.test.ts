/** Tests every kind of hostile path against every file tool. Tools that are added later are included automatically. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { basename, join, relative, resolve } from 'node:path'
import { render, type Tool, type ToolResult } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createWorkspace, fileTools, type Workspace } from '../index.ts'
import { put, temporary } from '../workspace.fixture.ts'

const CANARY = 'CANARY-SECRET\nplain\n'
/** Must not appear in the result of any call. */
const SECRET = CANARY.split('\n')[0] as string
const SECONDS = 20

const outside = temporary()
const root = temporary()
const beside = relative(root, outside)

const LINKS: Readonly<Record<string, string>> = {
  'file-link': join(outside, 'canary.txt'),
  'dir-link': join(outside, 'dir'),
  'relative-link': join(beside, 'canary.txt'),
  'chain-1': 'chain-2',
  'chain-2': 'chain-3',
  'chain-3': join(outside, 'canary.txt'),
  dangling: join(outside, 'not-there-yet'),
  'dangling-dir': join(outside, 'new/dir'),
  'loop-a': 'loop-b',
  'loop-b': 'loop-a',
  self: 'self',
  'src/up': '..',
  'to-root': '/',
  'to-proc': '/proc/self',
  'to-zero': '/dev/zero',
  'to-git': '.git',
  'out-and-in': join(outside, 'in'),
}

/** Resets both folders, because the tools change and delete what they may. */
function stage(): void {
  for (const dir of [root, outside]) for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true })
  put(outside, { 'canary.txt': CANARY, 'dir/deep.txt': CANARY, 'dir/more/a.txt': CANARY })
  put(root, {
    'a.txt': 'inside\n',
    'src/main.ts': 'inside\n',
    '.git/config': '[core]\n',
    '.git/hooks/pre-commit.sample': 'x\n',
    'sub/.git/HEAD': 'ref\n',
    '.mulligan/tools/own.ts': 'x\n',
    'worktree/.git': 'gitdir: ../.git\n',
  })
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(root, name))
  symlinkSync(root, join(outside, 'in'))
  execFileSync('mkfifo', [join(root, 'pipe')])
}

let server: Server
beforeEach(async () => {
  stage()
  server = createServer()
  await new Promise<void>((done) => server.listen(join(root, 'socket'), done))
})
afterEach(() => new Promise((done) => server.close(done)))

const UP = '../'.repeat(20)
const OUT = join(outside, 'canary.txt')

const LEADING_OUT: readonly string[] = [
  `${beside}/canary.txt`,
  beside,
  `./${beside}/canary.txt`,
  `src/../${beside}/canary.txt`,
  `src/./.././${beside}//canary.txt`,
  `a.txt/../${beside}/canary.txt`,
  `missing/../${beside}/canary.txt`,
  `${UP}${outside.slice(1)}/canary.txt`,
  `${UP}etc/passwd`,
  '..',
  '../',
  '/..',
  OUT,
  outside,
  `/${OUT}`,
  `${root}/../${beside.replace('../', '')}/canary.txt`,
  `${root}-beside/canary.txt`,
  '/etc/passwd',
  '//etc/passwd',
  '~/.ssh/id_rsa',
  '~root/.bashrc',
  '~',
  '$HOME/.bashrc',
  `\${HOME}/.bashrc`,
  'file-link',
  'relative-link',
  'dir-link',
  'dir-link/',
  'dir-link/deep.txt',
  'dir-link/more/../deep.txt',
  'dir-link/../canary.txt',
  'chain-1',
  'chain-2/../chain-1',
  'dangling',
  'dangling-dir/x.txt',
  'dangling/../canary.txt',
  `to-root/${outside.slice(1)}/canary.txt`,
  'to-root/etc/passwd',
  'to-proc/environ',
  `to-proc/root${OUT}`,
  'to-zero',
  `src/up/${beside}/canary.txt`,
  'out-and-in/../canary.txt',
]

const OTHERS: readonly string[] = [
  'loop-a',
  'self/x',
  '/proc/self/environ',
  '/proc/self/cwd/a.txt',
  `/proc/self/root${OUT}`,
  '/proc/1/environ',
  '/proc/self/fd/0',
  '/proc/self/mem',
  '/sys/kernel/version',
  '/dev/zero',
  '/dev/stdin',
  '/dev/fd/0',
  '/dev/tcp/127.0.0.1/80',
  'pipe',
  './pipe',
  'socket',
  'a\0.txt',
  `${beside}/canary.txt\0.png`,
  `a.txt\n${OUT}`,
  'line\nbreak',
  '\r\n',
  ' ',
  '',
  '.',
  './',
  'x'.repeat(256),
  'x'.repeat(100_000),
  'd/'.repeat(60),
  `${'d/'.repeat(3000)}a`,
  '%2e%2e/%2e%2e/etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '..%c0%af..%c0%afetc/passwd',
  '..\u2044..\u2044etc\u2044passwd',
  '\uff0e\uff0e/\uff0e\uff0e/etc/passwd',
  '\u2025/etc/passwd',
  '.\u200b./.\u200b./etc/passwd',
  'a\u0308.txt',
  '\u202etxt.a',
  '.../...//etc/passwd',
  '.. /.. /etc/passwd',
  '... ',
  'a.txt.',
  'a.txt ',
  'file:///etc/passwd',
  `file://${OUT}`,
  'http://localhost/etc/passwd',
  '\\\\?\\C:\\Windows\\win.ini',
  '\\\\.\\pipe\\x',
  '\\\\server\\share\\x',
  'C:\\Windows\\win.ini',
  '..\\..\\..\\etc\\passwd',
  'a.txt::$DATA',
  'CON',
  '-rf',
  '--help',
  '@/etc/passwd',
  '@output/../../etc/passwd',
  `@output/../${beside}/canary.txt`,
]

/** Files that may be read but never changed. */
const PROTECTED: readonly string[] = [
  '.git/config',
  '.git/hooks/pre-commit',
  './/.git//config',
  'src/../.git/config',
  `${root}/.git/config`,
  '.GIT/config',
  '.Git/hooks/post-checkout',
  '.git./config',
  '.git /config',
  'to-git/config',
  'to-git/hooks/pre-commit',
  'src/up/.git/config',
  'out-and-in/.git/config',
  'sub/.git/HEAD',
  'sub/.GIT/config',
  'new/.git/config',
  'worktree/.git',
  '.mulligan/tools/own.ts',
  '.mulligan/tools/new.ts',
  '.MULLIGAN/tools/new.ts',
  'src/.mulligan/tools/new.ts',
  '.mulligan./config.json',
  'mulligan.json',
  'src/Mulligan.JSON',
]

const PATH_LIKE = /path|file|dir|folder|from|to$|source|destination|target/i

/** Returns an input for the tool with `path` wherever a path is allowed. */
function inputFor(tool: Tool, path: string): Record<string, unknown> {
  const known: Readonly<Record<string, unknown>> = {
    pattern: tool.name === 'grep' ? 'CANARY.SECRET' : '**',
    content: 'changed',
    overwrite: true,
    edits: [{ old_text: 'plain', new_text: 'changed' }],
    patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-plain\n+changed\n*** Add File: ${path}\n+changed\n*** Delete File: ${path}\n*** End Patch\n`,
  }
  const required = (tool.inputSchema['required'] ?? []) as readonly string[]
  const properties = Object.entries(tool.inputSchema['properties'] as Readonly<Record<string, { readonly type?: string }>>)
  return Object.fromEntries(
    properties.flatMap(([name, { type }]) => {
      if (name in known) return [[name, known[name]]]
      if (type === 'string' && (PATH_LIKE.test(name) || required.includes(name))) return [[name, path]]
      if (type === 'array' && PATH_LIKE.test(name)) return [[name, [path]]]
      return []
    }),
  )
}

/** Makes a call under the executor's own timeout, in a new turn, with every effect allowed. */
async function call(tools: readonly Tool[], tool: Tool, input: Record<string, unknown>): Promise<ToolResult> {
  const executor = createExecutor({ tools, graceMs: 500, policy: () => ({ decision: 'allow', reason: 'the test' }) })
  const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name: tool.name, input })
  if (prepared.kind === 'approval') throw new Error('asked although everything is allowed')
  return prepared.kind === 'result' ? prepared.record.result : (await executor.execute(prepared.call)).result
}

/** Returns every file below a folder with its content. Links are not followed, which `recursive` would do. */
function contents(dir: string, below = ''): string[] {
  return readdirSync(join(dir, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name)
      if (entry.isDirectory()) return contents(dir, path)
      return entry.isFile() ? [`${path}: ${readFileSync(join(dir, path), 'utf8')}`] : []
    })
    .sort()
}

const tools = fileTools(createWorkspace(root, { outputs: { dir: temporary() } }), { searchSeconds: 5 })
const quick = tools.map((tool): Tool => ({ ...tool, timeout: Math.min(tool.timeout, SECONDS) }))

async function harmless(tool: Tool, path: string): Promise<ToolResult> {
  const result = await call(quick, tool, inputFor(tool, path))
  const text = `${render(result)}\n${JSON.stringify(result)}`
  expect(text).not.toContain(SECRET)
  expect(text).not.toContain('root:x:0')
  // What the model wrote itself may be repeated to it.
  if (!path.includes('tmp') && !path.includes(basename(outside))) for (const place of [root, outside]) expect(text).not.toContain(place)
  if (!path.includes('canary')) expect(text).not.toContain('canary.txt')
  if (!result.ok) {
    expect(['retry', 'failed']).toContain(result.status)
    expect(['timeout', 'internal']).not.toContain(result.errorType)
  }
  return result
}

describe.runIf(process.platform === 'linux').each(quick.map((tool) => [tool.name, tool] as const))('%s', (_, tool) => {
  test('what leads out is refused, and nothing outside is read or changed', async () => {
    const before = contents(outside)
    for (const path of LEADING_OUT) await harmless(tool, path)
    expect(contents(outside)).toEqual(before)
    expect(existsSync(join(outside, 'not-there-yet'))).toBe(false)
    expect(existsSync(join(outside, 'new'))).toBe(false)
  }, 60_000)

  test('what is no file, or no path, is refused or a name like others, and nothing waits', async () => {
    const before = contents(outside)
    for (const path of OTHERS) await harmless(tool, path)
    expect(contents(outside)).toEqual(before)
  }, 60_000)

  test('what runs by itself is not changed', async () => {
    const before = contents(root).filter((one) => /(?:^|\/)\.(?:git|mulligan)[./ ]*\//i.test(one))
    for (const path of PROTECTED) {
      const result = await harmless(tool, path)
      if (tool.effect !== 'read') expect([path, result.ok]).toEqual([path, false])
    }
    expect(contents(root).filter((one) => /(?:^|\/)\.(?:git|mulligan)[./ ]*\//i.test(one))).toEqual(before)
    expect(readFileSync(join(root, 'worktree/.git'), 'utf8')).toBe('gitdir: ../.git\n')
  }, 60_000)
})

test('there are more than forty paths, and every tool has one in its input', () => {
  expect(new Set([...LEADING_OUT, ...OTHERS, ...PROTECTED]).size).toBeGreaterThan(100)
  for (const tool of tools) expect(JSON.stringify(inputFor(tool, 'the-path')), tool.name).toContain('the-path')
})

describe.runIf(process.platform === 'linux')('a link swapped in between check and use', () => {
  /** Switches `swap` between a folder and a link to the outside, as fast as possible. */
  const SWAP = `const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
    const [outside] = process.argv.slice(1)
    const parent = process.ppid
    while (process.ppid === parent) try {
      renameSync('swap', 'aside'); symlinkSync(outside, 'swap'); unlinkSync('swap'); renameSync('aside', 'swap')
      renameSync('swap/deep.txt', 'kept.txt'); symlinkSync(outside + '/deep.txt', 'swap/deep.txt'); unlinkSync('swap/deep.txt'); renameSync('kept.txt', 'swap/deep.txt')
    } catch (error) { if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error; try { if (require('node:fs').lstatSync('swap').isSymbolicLink()) unlinkSync('swap') } catch {}; try { renameSync('aside', 'swap') } catch {} }`
  const place = temporary()
  let swapping: ChildProcess
  beforeAll(() => {
    put(place, { 'swap/deep.txt': 'inside\n', 'swap/more/a.txt': 'inside\n' })
    swapping = spawn(process.execPath, ['--eval', SWAP, join(outside, 'dir')], { cwd: place, stdio: 'ignore' })
  })
  afterAll(() => void swapping.kill('SIGKILL'))

  const racing = fileTools(createWorkspace(place))
  test.each(racing.map((tool) => [tool.name, tool] as const))(
    '%s',
    async (_, tool) => {
      const before = contents(outside)
      for (let round = 0; round < 15; round++)
        for (const path of ['swap/deep.txt', 'swap', 'swap/more']) {
          const result = await call(racing, tool, inputFor(tool, path))
          expect(JSON.stringify(result)).not.toContain(SECRET)
        }
      expect(contents(outside)).toEqual(before)
    },
    60_000,
  )
})

describe('control: with the check taken out the canary is reached', () => {
  const place = temporary()
  const away = temporary()
  put(away, { 'canary.txt': CANARY })
  const path = `${relative(place, away)}/canary.txt`
  const guarded = createWorkspace(place)
  const unguarded: Workspace = {
    ...guarded,
    changes: createWorkspace('/').changes,
    resolve: async (asked) => {
      const absolute = resolve(place, asked)
      const kind = !existsSync(absolute) ? 'missing' : statSync(absolute).isDirectory() ? 'directory' : 'file'
      return { absolute, relative: asked, kind, root: '/', output: false }
    },
  }
  const open = fileTools(unguarded)
  const find = (name: string) => open.find((tool) => tool.name === name) as Tool

  test.each(['read_file', 'grep'])('%s reads it', async (name) => {
    expect(JSON.stringify(await call(open, find(name), inputFor(find(name), path)))).toContain(SECRET)
  })

  test.each(['list_dir', 'glob', 'tree'])('%s lists it', async (name) => {
    expect(JSON.stringify(await call(open, find(name), inputFor(find(name), relative(place, away))))).toContain('canary.txt')
  })

  test.each(['edit_file', 'write_file'])('%s changes it', async (name) => {
    writeFileSync(join(away, 'canary.txt'), CANARY)
    await call(open, find('read_file'), { path })
    await call(open, find(name), inputFor(find(name), path))
    expect(readFileSync(join(away, 'canary.txt'), 'utf8')).not.toBe(CANARY)
  })
})
