/**
 * Tests the command in a separate process. What the sandbox itself enforces is tested in its package. These tests use none, so that they
 * run everywhere.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Completed } from '@mulligan/sandbox'
import { describe, expect, it } from 'vitest'
import { place } from '../../../test/cli.fixture.ts'
import { SANDBOX_EXIT } from './run.ts'

const NONE = ['sandbox', 'run', '--backend', 'none'] as const
const isWindows = process.platform === 'win32'

describe.skipIf(isWindows)('mulligan sandbox run', () => {
  it.each<[string, readonly string[], number, string, string]>([
    ['a single word is a script', ['echo "a b" | tr a-z A-Z; echo x >&2'], 0, 'A B\n', 'x\n'],
    ['several are a program with its arguments', ['printf', '%s|', 'a b', '$HOME;', '-n'], 0, 'a b|$HOME;|-n|', ''],
    ['the exit code is that of the command', ['exit 3'], 3, '', ''],
    ['a command that does not exist', ['nowhere-to-be-found', 'x'], 127, '', expect.any(String) as unknown as string],
    ['a signal is 128 and its number', ['kill -SEGV $$'], 139, '', ''],
    ['stdin is closed', ['cat; echo done'], 0, 'done\n', ''],
    ['into a pipe the output is as it is', ["printf 'a\\033[31mb\\n'"], 0, 'a\x1b[31mb\n', ''],
  ])('%s', async (_, words, code, stdout, stderr) => {
    using here = place()
    expect(await here.run([...NONE, '--', ...words], { stdin: 'piped' })).toEqual({ code, stdout, stderr })
  })

  it('runs in the folder that is named, and changes it', async () => {
    using here = place({ 'below/a.txt': '' })
    expect(await here.run([...NONE, '--cwd', 'below', 'ls; touch b.txt'])).toMatchObject({ code: 0, stdout: 'a.txt\n' })
    expect(here.has('below/b.txt')).toBe(true)
  })

  it('--json is one object, and the exit code stays', async () => {
    using here = place()
    const { code, stdout, stderr } = await here.run([...NONE, '--json', 'echo out; echo err >&2; exit 4'])
    const fields = { exitCode: 4, signal: null, reason: 'exit', stdout: 'out\n', stderr: 'err\n', droppedBytes: 0, backend: 'none' }
    expect([code, stderr, JSON.parse(stdout)]).toEqual([4, '', { ...fields, durationMs: expect.any(Number) }])
  })

  it.each<[string, readonly string[], number, string, RegExp]>([
    ['too long', ['--timeout', '1', 'echo begun; sleep 60'], SANDBOX_EXIT.timeout, 'timeout', /longer than 1 s.*sandbox\.timeout/],
    ['too much', ['yes'], SANDBOX_EXIT.killed, 'output', /printed more/],
    [
      'too large',
      ['--memory', '128m', `exec "${process.execPath}" -e "const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))"`],
      SANDBOX_EXIT.killed,
      'memory',
      /more than 128 MB of memory.*sandbox\.memory/,
    ],
  ])('%s: the limit is named, and how to move it', async (_, args, code, reason, says) => {
    using here = place()
    const ended = await here.run([...NONE, '--json', ...args])
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(says)])
    expect((JSON.parse(ended.stdout) as Completed).reason).toBe(reason)
  })

  it('shows the output while the command runs; Ctrl-C ends it with all its processes', async () => {
    using here = place()
    const { child, ended } = here.start([...NONE, 'setsid sh -c "echo \\$\\$ > pid; echo begun; exec sleep 300" & wait'])
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    const pid = Number(readFileSync(join(here.dir, 'pid'), 'utf8'))
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGINT')
    const { code, stdout } = await ended
    expect([code, stdout, isAlive(pid)]).toEqual([130, 'begun\n', false])
  })

  it('a reader that goes away ends it, and is not a failure', async () => {
    using here = place()
    const { child, ended } = here.start([...NONE, 'echo $$ > pid; while :; do echo line; sleep 0.01; done'])
    child.stdout?.once('data', () => child.stdout?.destroy())
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
    expect(isAlive(Number(readFileSync(join(here.dir, 'pid'), 'utf8')))).toBe(false)
  })

  it('takes its settings from the environment and the files', async () => {
    using here = place({ 'mulligan.json': '{ "sandbox": { "timeout": 1 } }' })
    const env = { MULLIGAN_SANDBOX: 'none' }
    expect((await here.run(['sandbox', 'run', 'sleep 60'], { env })).code).toBe(SANDBOX_EXIT.timeout)
    expect((await here.run(['sandbox', 'run', 'sleep 1.2'], { env: { ...env, MULLIGAN_SANDBOX_TIMEOUT: '30' } })).code).toBe(0)
  })

  it('a sandbox that can not start is not a command that failed: 125, with the remedy', async () => {
    using here = place()
    const { code, stdout, stderr } = await here.run(['sandbox', 'run', '--backend', 'docker', '--json', 'touch ran'], {
      env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' },
    })
    expect([code, stderr]).toEqual([
      SANDBOX_EXIT.sandbox,
      expect.stringMatching(/^mulligan: the sandbox could not start: .*\n.*[Ii]nstall/),
    ])
    expect(JSON.parse(stdout)).toEqual({ error: { message: expect.any(String), hint: expect.stringMatching(/[Ii]nstall/) } })
    expect(existsSync(join(here.dir, 'ran'))).toBe(false)
  })
})

it.skipIf(isWindows)('mulligan sandbox pull says what is missing where no engine answers', async () => {
  using here = place()
  const { code, stdout, stderr } = await here.run(['sandbox', 'pull', 'an-image', '--backend', 'docker'], {
    env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' },
  })
  expect([code, stdout, stderr]).toEqual([SANDBOX_EXIT.sandbox, '', expect.stringMatching(/^mulligan: .*Docker.*\n.*[Ii]nstall/)])
})

describe('what is asked for wrongly', () => {
  it.each([
    ['no command', ['sandbox', 'run'], /missing required argument 'command'\nmulligan sandbox run --help/],
    ['an unknown subcommand', ['sandbox', 'rnu'], /unknown command 'rnu'\nDid you mean run\?/],
    ['nearly sandbox', ['sandbx', 'run'], /unknown command "sandbx"; did you mean sandbox\?/],
    ['nearly doctor', ['docter'], /unknown command "docter"; did you mean doctor\?/],
    [
      'a flag of the command',
      ['sandbox', 'run', 'ls', '-l'],
      /unknown option '-l'\nPut the command after --, as in mulligan sandbox run -- ls -l/,
    ],
    ['an unknown backend', ['sandbox', 'run', '--backend', 'bwrap', 'x'], /--backend.*Allowed choices are auto, bubblewrap/],
    ['no size', ['sandbox', 'run', '--memory', 'lots', 'x'], /--memory lots: .*512m/],
    ['too little', ['sandbox', 'run', '--memory', '1k', 'x'], /--memory 1k: .*at least 16m/],
    ['too long', ['sandbox', 'run', '--timeout', '601', 'x'], /--timeout 601: .*600/],
  ])('%s', async (_, args, says) => {
    using here = place()
    const { code, stdout, stderr } = await here.run(args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(says)])
  })
})

/** Whether a process is alive. A zombie is not: its parent has just not read its exit status. */
const isAlive = (pid: number): boolean =>
  /^[^Z]/.test(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim())
