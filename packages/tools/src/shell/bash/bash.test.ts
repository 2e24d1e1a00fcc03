import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { render, type ToolResult } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { createSandbox, SandboxError } from '@mulligan/sandbox'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../../create-workspace.ts'
import { temporary } from '../../workspace.fixture.ts'
import { shellTools } from '../index.ts'
import { BACKEND, shell, turn } from '../shell.fixture.ts'

const FILES = {
  'a.txt': 'one\ntwo\n',
  'src/main.ts': 'export {}\n',
  'src/run.py': 'print("ran")\n',
  'x.sh': '#!/bin/sh\necho ran\n',
  'package.json': '{"scripts":{"lint":"no-such-linter .","ok":"true"}}',
}

/** Returns the text of a failure. */
const saysOf = (result: ToolResult): string => render(result)
const callOf = (result: ToolResult): unknown => (result.ok ? undefined : result.details?.call?.input)

describe('what an end comes to', () => {
  const { tools, root } = shell(FILES)
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  writeFileSync(join(root, 'node_modules/.bin/vitest'), '#!/bin/sh\necho tests ran\n', { mode: 0o755 })
  const { call } = turn(tools)

  test.each([
    ['echo hi', 'hi'],
    ['echo hi; echo warn >&2', 'hi\n[stderr]\nwarn'],
    ['true', '(no output)'],
    ["printf '\\033[31mred\\033[0m\\n1 %%\\r99 %%\\n'", 'red\n99 %'],
    ['head -c 2000 /dev/urandom', '(binary, '],
    ['cat', '(no output)'],
    ["python3 <<'E'\nprint(1 + 1)\nE", '2'],
    ['cd src && ls', 'main.ts\nrun.py'],
  ])('ok: %s', async (command, content) => {
    const { result } = await call('bash', { command })
    expect(result).toMatchObject({ ok: true, data: { exitCode: 0, signal: null, reason: 'exit' } })
    expect(result.content).toContain(content)
  })

  test.each([
    ['grep three a.txt', 0, 'No match (exit code 1).'],
    ['cd src && grep -rn three .', 0, 'No match (exit code 1).'],
    ['find . -name "*.md" | xargs -r grep x; find . -name a.txt | xargs grep three', 0, 'No match (exit code 123).'],
    ['which no-such-program', 0, 'Not found (exit code 1).'],
    ['test -f nothing', undefined, 'False (exit code 1).'],
    ['diff a.txt x.sh > /dev/null', undefined, 'They differ (exit code 1).'],
  ])('an answer: %s', async (command, count, content) => {
    const { result } = await call('bash', { command })
    expect(result).toMatchObject({ ok: true, content, data: { reason: 'exit' } })
    expect(result.ok && result.count).toBe(count)
  })

  test('diff shows what differs', async () => {
    expect((await call('bash', { command: 'diff a.txt x.sh' })).text).toMatch(/^1,2c1,2\n< one\n(?:.*\n)+They differ/)
  })

  test.each([
    ['echo 2 failed; exit 1', 'The command exited with code 1.\n2 failed\n'],
    ['echo out; echo oops >&2; exit 7', 'The command exited with code 7.\nout\n[stderr]\noops\n'],
    ['exit 139', 'code 139 (SIGSEGV: it crashed'],
    [
      'sh -c "kill -9 \\$\\$"; exit 137',
      'code 137 (SIGKILL: it was killed, often because memory ran out). If it ran out of memory: A person can change that: sandbox.memory',
    ],
    ['kill -TERM $$', 'SIGTERM: it was asked to end'],
    ['npm run lint', 'no-such-linter'],
    // a program that merely has the same name, and one that was never reached
    ['printf "#!/bin/sh\\necho 3 FAILED\\nexit 1\\n" > diff; chmod +x diff; ./diff', 'The command exited with code 1.\n3 FAILED'],
    ['test() { echo 3 FAILED; return 1; }; test', 'The command exited with code 1.\n3 FAILED'],
    ['false >/dev/null 2>&1 || exit 1; grep -c one a.txt', 'The command exited with code 1.'],
    ['timeout 1 sleep 5', "The command's own timeout ended it."],
    ['grep -E "(" a.txt', 'exited with code 2'],
  ])('failed: %s', async (command, says) => {
    const { result } = await call('bash', { command })
    expect(result).toMatchObject({ ok: false, status: 'failed', errorType: 'execution' })
    expect(saysOf(result)).toContain(says)
  })

  /** Each case has the suggested call, which is then made and works. */
  test.each([
    ['cta a.txt', 'cat a.txt', 'There is no command "cta" in the sandbox.'],
    ['echo "x" | gerp x', 'echo "x" | grep x', 'There is no command "gerp"'],
    [
      'x=$(cta a.txt); echo "$x"; [ -n "$x" ] || exit 127',
      undefined,
      'What comes before it in the command may have taken effect. Nearest: cat',
    ],
    ['vitest run', 'npx vitest run', 'There is no command "vitest"'],
    ['lint-x || ok', undefined, 'There is no command'],
    ['./x.sh', 'sh ./x.sh', '"./x.sh" is not executable.'],
    ['./src/x.sh', 'sh x.sh', 'There is no program "./src/x.sh".'],
    ['cat main.ts', 'cat src/main.ts', 'There is no file or folder "main.ts".'],
    ['wc -l < b.txt', 'wc -l < a.txt', 'There is no file or folder "b.txt".'],
    ['python3 src/rum.py', 'python3 src/run.py', 'There is no file or folder "src/rum.py".'],
    ['ls scr', 'ls src', 'There is no file or folder "scr".'],
    ['cd scr && ls', undefined, 'Nearest: src'],
    ['mkdir made && cat main.ts', undefined, 'What comes before it in the command may have taken effect. Nearest: src/main.ts'],
    ['cat "$(mkdir made-too)" main.ts', undefined, 'may have taken effect. Nearest: src/main.ts'],
    ['rm x.txt b.txt', undefined, 'may have taken effect. Nearest: '],
    // the same program earlier in the command, with an effect
    ['cat a.txt >> log; cat main.ts', undefined, 'may have taken effect. Nearest: src/main.ts'],
    ['sed -i s/x/xx/ log; sed -n p main.ts', undefined, 'may have taken effect. Nearest: src/main.ts'],
    ['sort -o log log; sort main.ts', undefined, 'may have taken effect. Nearest: src/main.ts'],
    ['find log -delete; find main.ts', undefined, 'may have taken effect. Nearest: src/main.ts'],
    ['cat a.txt main.ts >> log', undefined, 'may have taken effect. Nearest: src/main.ts'],
    ['cat main.ts >> log', 'cat src/main.ts >> log', 'There is no file or folder "main.ts".'],
    ['cp main.ts copied', 'cp src/main.ts copied', 'There is no file or folder "main.ts".'],
    ['cat a.txt >> log; cta a.txt', undefined, 'may have taken effect. Nearest: '],
    ['echo "abc', 'echo "abc"', 'a command that the shell can read'],
    ['less a.txt', 'cat a.txt', 'waits for a keyboard'],
    ['git commit', undefined, "give the message with -m '…'"],
  ])('retry: %s', async (command, suggested, says) => {
    const { result } = await call('bash', { command })
    expect(result).toMatchObject({ ok: false, status: 'retry', details: { parameter: 'command' } })
    expect(saysOf(result)).toContain(says)
    expect(callOf(result)).toEqual(suggested === undefined ? undefined : { command: suggested })
    if (suggested !== undefined) expect((await turn(tools).call('bash', callOf(result))).result.ok).toBe(true)
  })

  test('a program that nobody has installed is not one that is misspelt', async () => {
    const { text, result } = await call('bash', { command: 'elixir a.exs' })
    expect(text).toContain('Ask a person to install it')
    expect(callOf(result)).toBeUndefined()
  })

  test.each([
    [{ cwd: 'scr' }, 'not_found', { command: 'ls', cwd: 'src' }],
    [{ cwd: 'src/main.ts' }, 'validation', { command: 'ls', cwd: 'src' }],
    [{ cwd: '../..' }, 'permission', undefined],
  ])('the folder: %j', async (more, errorType, suggested) => {
    const { result } = await call('bash', { command: 'ls', ...more })
    expect(result).toMatchObject({ ok: false, errorType, details: { parameter: errorType === 'permission' ? 'path' : 'cwd' } })
    expect(callOf(result)).toEqual(suggested)
  })

  test('the folder is where it runs', async () => {
    expect((await call('bash', { command: 'ls', cwd: 'src' })).text).toBe('main.ts\nrun.py')
  })
})

describe('limits', () => {
  test('time: what was printed is kept, and a longer time or the background is offered', async () => {
    const { call } = turn(shell().tools)
    const slow = await call('bash', { command: 'echo begun; sleep 30', timeout: 1 })
    expect(slow.result).toMatchObject({
      ok: false,
      status: 'failed',
      errorType: 'timeout',
      content: 'begun',
      details: { reason: 'timeout' },
    })
    expect(slow.text).toContain('The command was ended after 1 s, with all that it had started. Changes that it had made remain.')
    expect(callOf(slow.result)).toEqual({ command: 'echo begun; sleep 30', timeout: 5 })
    expect(render(slow.result)).not.toContain('Choose another way')
    const server = await call('bash', { command: 'serve() { sleep 30; }; serve', timeout: 1 })
    expect(callOf(server.result)).toEqual({ command: 'serve() { sleep 30; }; serve', background: true })
  })

  test.each([
    ['with the network, a command that may write is indeterminate', 'bridge', 'echo hi > a; sleep 30', 'indeterminate'],
    ['control: one that only reads failed', 'bridge', 'cat pipe', 'failed'],
    ['control: without the network it failed, and its changes are in the workspace', 'none', 'echo hi > a; sleep 30', 'failed'],
  ] as const)('time: %s', async (_, network, command, status) => {
    const { root, tools } = shell({}, { network, sandboxOptions: { network, backend: network === 'none' ? BACKEND : 'none' } })
    execFileSync('mkfifo', [join(root, 'pipe')])
    const { call } = turn(tools)
    expect((await call('bash', { command, timeout: 1 })).result).toMatchObject({ ok: false, status, errorType: 'timeout' })
  })

  test('output', async () => {
    const { call } = turn(shell({}, { sandboxOptions: { limits: { output: 2000, outputStop: 100_000 } } }).tools)
    const { result, text } = await call('bash', { command: 'yes' })
    expect(result).toMatchObject({ ok: false, status: 'failed', details: { reason: 'output' } })
    expect(text).toContain('A person can change that: sandbox.output.')
  })

  test('much output is no reason to end it: its own exit code stays, and how much there was is told', async () => {
    const { call } = turn(shell().tools)
    const { result, text } = await call('bash', { command: "head -c 14000000 /dev/zero | tr '\\0' x; echo; echo 3 failed; exit 3" })
    expect(result).toMatchObject({ ok: false, status: 'failed', details: { reason: 'exit', exitCode: 3, droppedBytes: 13_800_010 } })
    expect(text).toContain('13.8 MB between the beginning and the end were not kept')
    expect(text).toContain('3 failed')
  })

  test.skipIf(BACKEND === 'none')('what it made where no command may is told, and where it is now', async () => {
    const { tools } = shell()
    const { result, text } = await turn(tools).call('bash', { command: 'mkdir .git && echo made' })
    expect(result).toMatchObject({ ok: true, data: { stdout: 'made' } })
    const [, to = ''] = /\.git was moved to (\S+): commands may not create it\. Ask the user/.exec(text) ?? []
    expect(existsSync(to)).toBe(true)
    rmSync(dirname(to), { recursive: true })
  })

  test.skipIf(BACKEND === 'none')('memory', async () => {
    const { call } = turn(shell({}, { sandboxOptions: { limits: { memory: 64 * 1024 * 1024 } } }).tools)
    const { text } = await call('bash', { command: 'python3 -c "x = bytearray(500_000_000); print(len(x))"' })
    expect(text).toContain('sandbox.memory')
  })

  test.skipIf(BACKEND === 'none')('network: the setting is named; what else goes wrong there is not put down to it', async () => {
    const { call } = turn(shell().tools)
    const program = "require('dns').lookup('example.com', (error) => { console.error(error.message); process.exit(1) })"
    expect((await call('bash', { command: `node -e "${program}"` })).text).toContain(
      'The sandbox has no network. A person can change that: sandbox.network: bridge',
    )
    expect((await call('bash', { command: 'echo plain failure; exit 1' })).text).not.toContain('sandbox.')
  })
})

test('the sandbox that cannot start is no command that failed, and is tried again', async () => {
  const workspace = createWorkspace(temporary())
  let tries = 0
  const made = shellTools({
    workspace,
    sandbox: () => {
      if (++tries === 1)
        throw new SandboxError({ message: `bwrap is not installed (${workspace.root})`, remedy: 'apt-get install bubblewrap' })
      return createSandbox({ workspace: workspace.root, backend: BACKEND })
    },
  })
  const { call } = turn(made.tools)
  const first = await call('bash', { command: 'echo hi' })
  expect(first.result).toMatchObject({ ok: false, status: 'failed', errorType: 'sandbox' })
  expect(first.text).toContain(
    'so the command was not run: bwrap is not installed (the workspace). A person can fix this: apt-get install bubblewrap',
  )
  expect((await call('bash', { command: 'echo hi' })).text).toBe('hi')
  await made.dispose()
})

test('nothing is opened until a command is run', async () => {
  const workspace = createWorkspace(temporary())
  const { tools, dispose } = shellTools({ workspace, sandbox: () => Promise.reject(new Error('opened')) })
  const { call } = turn(tools)
  expect((await call('bash', { command: 'vim' })).result).toMatchObject({ status: 'retry' })
  expect((await call('bash_output', { id: 'bg1' })).result).toMatchObject({ status: 'retry' })
  await dispose()
})

test('cut off by the turn it is indeterminate, and its processes are gone', async () => {
  const { tools, root } = shell()
  const stop = new AbortController()
  const executor = createExecutor({ tools, signal: stop.signal, policy: () => ({ decision: 'allow', reason: '' }) })
  const prepared = await executor.prepare({
    id: 't/1/0',
    step: 1,
    ordinal: 0,
    name: 'bash',
    input: { command: 'touch begun; sleep 2; touch late' },
  })
  if (prepared.kind !== 'ready') throw new Error('not ready')
  const running = executor.execute(prepared.call)
  while (!existsSync(join(root, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20))
  stop.abort()
  expect((await running).result).toMatchObject({ ok: false, status: 'indeterminate', errorType: 'cancelled' })
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(existsSync(join(root, 'late'))).toBe(false)
})

test('after one that was cut off, the same with a space, and any other that may write, asks; one that reads does not', async () => {
  const { tools } = shell({ a: 'one\n' })
  const input = { command: 'touch begun; sleep 2; touch late' }
  const executor = createExecutor({
    tools,
    policy: () => ({ decision: 'allow', reason: '' }),
    indeterminate: [{ id: 't/0/0', tool: 'bash', input }],
  })
  const kindOf = async (command: string) =>
    (await executor.prepare({ id: `t/1/${command}`, step: 1, ordinal: 0, name: 'bash', input: { command } })).kind
  for (const command of [input.command, `${input.command} `, `sh -c '${input.command}'`, 'touch other'])
    expect([command, await kindOf(command)]).toEqual([command, 'approval'])
  expect(await kindOf('cat a')).toBe('ready')
})

test('the person sees the latest lines while it runs', async () => {
  const { call, events } = turn(shell().tools)
  await call('bash', { command: 'for n in 1 2 3; do echo line $n; sleep 0.4; done' })
  const told = events.flatMap((event) => (event.type === 'tool.delta' ? [event.message] : []))
  expect(told[0]).toMatch(/^line 1/)
})

describe('other agents’ calls', () => {
  const { tools } = shell(FILES)
  test.each([
    ['shell', { command: ['bash', '-lc', 'pwd | wc -l'], workdir: 'src', timeout_ms: 5000 }],
    ['Bash', { command: 'echo 1', description: 'Prints one', timeout: 120_000 }],
    ['run_shell_command', { command: 'echo 1', directory: '.', description: 'x' }],
    ['execute_command', { command: 'echo 1', requires_approval: false }],
    ['run_terminal_cmd', { command: 'echo 1', is_background: false, explanation: 'x' }],
    ['exec_command', { cmd: 'echo 1', yield_time_ms: 1000 }],
    ['local_shell', { command: ['echo', '1'] }],
    ['bash', { cmd: 'echo 1', description: 'x', cwd: './' }],
  ])('%s %j', async (name, input) => expect((await turn(tools).call(name, input)).text).toBe('1'))

  test('milliseconds are seconds, and it is noted', async () => {
    const { record } = await turn(tools).call('bash', { command: 'true', timeout: 30_000 })
    expect(record.input).toMatchObject({ timeout: 30 })
    expect(record.repairs).toMatchObject([{ kind: 'unit' }])
  })
})

describe('the loop guard', () => {
  const project = () => shell({ 'package.json': '{"scripts":{"test":"echo took $RANDOM ms; cat version; exit 1"}}', version: '1' })

  test('the same failing command is refused the fourth time', async () => {
    const { call } = turn(project().tools)
    const statuses = []
    for (const _ of [1, 2, 3, 4]) statuses.push((await call('bash', { command: 'npm test' })).result)
    expect(statuses.map((result) => (result.ok ? 'ok' : result.status))).toEqual(['failed', 'failed', 'failed', 'blocked'])
  })

  test('an edit in between is no loop', async () => {
    const { call } = turn(project().tools)
    for (const version of [1, 2, 3, 4, 5, 6]) {
      expect((await call('bash', { command: 'npm test' })).result).toMatchObject({ status: 'failed' })
      await call('bash', { command: `echo ${version} > version` })
    }
  })

  test('to look in between changes nothing', async () => {
    const { call } = turn(project().tools)
    const results = []
    for (const _ of [1, 2, 3, 4]) {
      results.push((await call('bash', { command: 'npm test' })).result)
      await call('bash', { command: 'cat version' })
    }
    expect(results.map((result) => (result.ok ? 'ok' : result.status))).toEqual(['failed', 'failed', 'failed', 'blocked'])
  })

  test('a command that says the same each time, with nothing in between, is refused as well', async () => {
    const { call } = turn(project().tools)
    const results = []
    for (const _ of [1, 2, 3, 4]) results.push((await call('bash', { command: 'cat version' })).result.ok)
    expect(results).toEqual([true, true, true, false])
  })
})
