import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '@mulligan/agent'
import { MODES } from '@mulligan/core/executor'
import { openTools, readAgents, readSettings } from '@mulligan/host/parts'
import { BACKENDS } from '@mulligan/sandbox'
import { describe, expect, it } from 'vitest'
import { BIN, type CliFixture, place } from '../../../test/cli.fixture.ts'
import { inProcess } from '../../../test/in-process.fixture.ts'
import { joined, SHELLS } from './complete.ts'
import { SCRIPTS } from './run.ts'
import { toolNames } from './tool-names.ts'

const trace = fileURLToPath(new URL('../../../test/trace-imports.fixture.ts', import.meta.url))
const bin = fileURLToPath(new URL('../../../test/unbundled.fixture.ts', import.meta.url))

/** Creates a folder with an agent, a tool, a session and hostile names. */
async function filled(): Promise<CliFixture> {
  const here = place({
    '.mulligan/agents/review.md': 'Review.',
    '.mulligan/agents/$(touch hacked).md': 'x',
    '.mulligan/agents/-rf.md': 'x',
    '.mulligan/tools/own_tool.ts': '',
    'mulligan.json': '{ "agents": { "terse": {} }, "model": "ollama/named:1b" } // ours',
  })
  const store = await openStore(join(here.data, 'mulligan.db'))
  await store.createSession({ id: '20261122-1000-abcd', cwd: here.dir, title: 'Find \u001b[31mit' })
  await store.createSession({ id: '20261122-1000-else', cwd: '/elsewhere', title: 'Other' })
  await store.close()
  return here
}

/** Returns the values that fish would show. Like every command without `--cwd`, it uses the current folder. */
async function offered(here: CliFixture, ...words: string[]): Promise<readonly string[]> {
  const was = process.cwd()
  process.chdir(here.dir)
  try {
    const { stdout } = await inProcess(here, ['__complete', 'fish', '--', ...words])
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '')
  } finally {
    process.chdir(was)
  }
}

describe('what may be at the cursor', () => {
  it.each<[string[], string[], string[]]>([
    [[''], ['run', 'sessions', 'config', 'completion'], ['__complete', 'list']],
    [['sess'], ['sessions'], ['run']],
    [['sessions', ''], ['list', 'show', 'delete'], ['run']],
    [['sessions', '--'], ['--all', '--limit', '--json', '--help'], ['--model']],
    [['sessions', 'show', ''], ['20261122-1000-abcd'], ['20261122-1000-else']],
    [['sessions', 'delete', 'x', ''], ['20261122-1000-abcd'], []],
    [['--mo'], ['--model', '--mode'], ['--json']],
    [['run', '--session', ''], ['20261122-1000-abcd'], []],
    [['fix it', '--agent', ''], ['build', 'plan', 'review', 'terse'], ['-rf']],
    [['run', '-m', ''], ['ollama/named:1b'], []],
    [['run', '--mode=r'], ['--mode=read-only'], ['--mode=ask', 'read-only']],
    [['run', '--mode', 'auto', '--'], ['--agent'], []],
    [['tools', 'show', ''], ['read_file', 'own_tool'], []],
    [['config', 'get', 'lim'], ['limits.requests'], ['model']],
    [['config', 'set', 'mode', ''], ['read-only', 'auto'], []],
    [['sandbox', 'run', '--backend', ''], ['bubblewrap', 'none'], []],
    [['completion', ''], ['bash', 'powershell'], []],
    [['sandbox', 'run', '--', ''], [], ['bubblewrap']],
    [['nonsense', 'more', ''], [], ['run']],
  ])('%j', async (words, has, hasNot) => {
    using here = await filled()
    const [kind, ...values] = await offered(here, ...words)
    expect([kind, values]).toEqual([':values', expect.arrayContaining(has)])
    for (const one of [...hasNot, '$(touch hacked)']) expect(values).not.toContain(one)
  })

  it.each([
    [['run', '--cwd', ''], ':folders'],
    [['parse', ''], ':files'],
    [['sessions', 'export', '-o', ''], ':files'],
  ])('%j: the shell knows them itself', async (words, kind) => {
    using here = place()
    expect(await offered(here, ...words)).toEqual([kind])
  })

  it('without a store or with a broken one is nothing, and no error', async () => {
    using here = place({ '../data/mulligan.db': 'no database' })
    expect(await offered(here, 'sessions', 'show', '')).toEqual([':values'])
  })

  it('names are those that there are', async () => {
    using here = place()
    const settings = readSettings(here.dir, {}, { HOME: '/nowhere' })
    const { all } = await readAgents(here.dir, settings, {})
    expect(await offered(here, 'run', '--agent', '')).toEqual([':values', ...all.map(({ name }) => name)])
    expect(await offered(here, 'run', '--mode', '')).toEqual([':values', ...MODES])
    expect(await offered(here, 'sandbox', 'run', '--backend', '')).toEqual([':values', 'auto', ...BACKENDS])
    const was = process.cwd()
    const openedTools = await openTools(here.dir, { env: {}, settings })
    process.chdir(was)
    expect(toolNames(here.dir)).toEqual(openedTools.tools.map(({ name }) => name))
    expect(await offered(here, 'tools', 'show', '')).toEqual([':values', ...openedTools.tools.map(({ name }) => name)])
    await openedTools.close()
  })
})

it('bash takes words apart at : and =, and they are put together again', () => {
  expect(joined(['run', '--model', '=', 'ollama/x', ':', '1'])).toEqual(['run', '--model=ollama/x:1'])
  expect(joined(['--model', '='])).toEqual(['--model='])
  expect(joined(['a', ''])).toEqual(['a', ''])
})

describe('the script', () => {
  it('completes in a real bash', async () => {
    using here = await filled()
    here.write('bin/mulligan', `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`)
    chmodSync(join(here.dir, 'bin/mulligan'), 0o755)
    here.write('drive.sh', DRIVE)
    const { stdout, stderr } = spawnSync('bash', ['drive.sh'], {
      cwd: here.dir,
      encoding: 'utf8',
      env: { PATH: `${join(here.dir, 'bin')}:${process.env['PATH']}`, HOME: here.dir.replace(/\/work$/, ''), MULLIGAN_DATA_DIR: here.data },
    })
    expect([stdout.trimEnd().split('\n'), stderr]).toEqual([
      ['sessions', '20261122-1000-abcd', 'ollama/named:1b', '1b', 'read-only', 'bin', 'none'],
      '',
    ])
    expect(here.has('hacked')).toBe(false)
  })

  it.each([
    ['zsh', 'zsh', ['-n']],
    ['fish', 'fish', ['--no-execute']],
  ] as const)('%s can read it, where it is here', (shell, program, flags) => {
    const { error, status, stderr } = spawnSync(program, flags, { input: SCRIPTS[shell], encoding: 'utf8' })
    if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') expect([status, stderr]).toEqual([0, ''])
  })

  it.each(SHELLS)('of %s is what the command prints, and asks for values', async (shell) => {
    using here = place()
    const { code, stdout } = await inProcess(here, ['completion', shell])
    expect([code, stdout]).toEqual([0, SCRIPTS[shell]])
    expect(stdout).toContain(`mulligan __complete ${shell}`)
    const counts = [...'(){}[]'].map((bracket) => stdout.split(bracket).length)
    expect([counts[2], counts[4]]).toEqual([counts[3], counts[5]])
  })

  it('what it asks loads nothing that is slow to load', async () => {
    using here = await filled()
    const file = join(here.dir, 'trace')
    await here.run(['__complete', 'bash', '--', 'run', '--model', ''], { bin, execArgv: ['--import', trace], env: { TRACE_FILE: file } })
    const loaded = readFileSync(file, 'utf8').split('\n')
    expect(loaded.some((url) => url.endsWith('/completion/values.js'))).toBe(true)
    expect(
      loaded.filter((url) => /node_modules\/(?:zod|kysely|@ai-sdk|ai)\/|packages\/(?:core|agent|tools|testing|sandbox)\//.test(url)),
    ).toEqual([])
  })
})

/** Each line is one press of Tab, with the words as bash splits them. */
const DRIVE = `
source <(mulligan completion bash)
press() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _mulligan 2>/dev/null
  printf '%s\\n' "\${COMPREPLY[*]:-none}"
}
press mulligan sess
press mulligan sessions show 2026
press mulligan run --model ollama/na
press mulligan run --model = ollama/named :
press mulligan run --mode = r
press mulligan run --cwd b
press mulligan run --agent '$('
`
