/** Tests the command in a separate process: what a run sees of the user's environment, Ctrl-C, and a machine without a sandbox. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { EvalReport } from '@mulligan/eval'
import { call, lastToolResults, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { policy } from '../../../../eval/src/policy.fixture.ts'
import { sandboxThere } from '../../../../host/src/tools/sandbox.fixture.ts'
import { BIN, type CliFixture, endOf, NO_SERVERS, place, using } from '../../../test/cli.fixture.ts'

const there = await sandboxThere()
const reportIn = (stdout: string): EvalReport => JSON.parse(stdout) as EvalReport
const toolsIn = (body: unknown): string[] => (body as { tools: { function: { name: string } }[] }).tools.map((tool) => tool.function.name)

it.skipIf(!there)('nothing of the person gets into a run: no rule, instruction, skill, agent, tool, variable or file', async () => {
  using here = place({
    'AGENTS.md': 'MARK: always answer in rhymes.',
    '.mulligan/tools/own.mjs': `export default { name: 'own_tool', description: 'MARK', effect: 'read', input: { type: 'object' }, execute: () => 'MARK' }`,
    '.mulligan/skills/rhyme/SKILL.md': '---\nname: rhyme\ndescription: MARK\n---\nMARK',
    '.mulligan/config.json': JSON.stringify({
      agent: 'plan',
      tools: { off: ['bash', 'read_file'], lean: ['grep'] },
      limits: { requests: 1 },
      mode: 'read-only',
      policy: [{ tool: '*', decision: 'deny' }],
    }),
  })
  await using model = await scriptedModel((request) => {
    if (!request.bodyText.includes('release.sh')) return say('Ready.')
    const [last] = lastToolResults(request)
    return last
      ? say(`It prints release-7731-5. ${last.text}`)
      : call('bash', { command: `ls -a; cat ${here.dir}/AGENTS.md; echo $PRIVATE; sh release.sh` })
  })
  const env = { MULLIGAN_SANDBOX: 'none', MULLIGAN_MODE: 'read-only', PRIVATE: 'MARK' }
  const { code, stdout } = await here.run(['eval', '--tasks', 'run-command', '--json', ...using(model)], { env })
  const report = reportIn(stdout)
  expect([code, report.arms.map(({ succeeded }) => succeeded)]).toEqual([0, [1, 1, 1]])
  expect(report.conditions.sandbox).not.toBe('none')
  for (const { bodyText } of model.requests) expect(bodyText).not.toMatch(/MARK|own_tool/)
  const [, ...runs] = model.requests.map(({ body }) => toolsIn(body))
  expect(runs.every((tools) => tools.includes('bash') && tools.includes('read_file'))).toBe(true)
})

it('Ctrl-C keeps what was measured, and --resume makes the rest', async () => {
  using here = place()
  await using model = await scriptedModel((request, n) => (n === 6 ? { fault: { hang: true } } : policy({})(request, n)))
  const args = ['eval', '--tasks', 'value-in-file,unicode-name', '--json', ...using(model)]
  const running = here.start([...args, '--jsonl', 'runs.jsonl'])
  await model.arrived(6)
  running.child.kill('SIGINT')
  const { code, stdout, stderr } = await running.ended
  const report = reportIn(stdout)
  expect([code, report.complete, report.measured, report.planned]).toEqual([130, false, 2, 6])
  expect(report.incomplete).toBe('2 of 6 runs were measured: the eval was stopped')
  expect(stderr).toContain('--resume runs.jsonl')
  expect(here.read('runs.jsonl').trimEnd().split('\n')).toHaveLength(1 + 2)

  const again = await here.run([...args, '--resume', 'runs.jsonl'])
  expect([again.code, reportIn(again.stdout).measured]).toEqual([0, 6])
  expect(model.requests).toHaveLength(6 + 1 + 4 * 2)
})

it('a server that goes away: exit code 1, and how to go on', async () => {
  using here = place()
  await using model = await scriptedModel((request, n) => (n > 1 + 3 * 2 ? { fault: { status: 401 } } : policy({})(request, n)))
  const { code, stderr } = await here.run([
    ...['eval', '--tasks', 'value-in-file,unicode-name', '--arms', 'bare,full', '--runs', '3', '--jsonl', 'runs.jsonl'],
    ...using(model),
  ])
  expect([code, stderr]).toEqual([1, expect.stringContaining('--resume runs.jsonl')])
})

it('names that there are not end the command with 2; --list shows those that there are', async () => {
  using here = place()
  for (const [flag, given, says] of [
    ['--tasks', 'edit-crlf, wrong-pth', 'did you mean wrong-path?'],
    ['--arms', ' , ', '--arms names none'],
  ] as const)
    expect(await here.run(['eval', flag, given])).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
  const { stdout } = await here.run(['eval', '--list', '--json'])
  expect((JSON.parse(stdout) as { readonly tasks: unknown[] }).tasks).toHaveLength(30)
})

/** Runs the command in a mount namespace in which the system's bubblewrap cannot be run, since it is not looked up in PATH. */
function withoutBubblewrap(here: CliFixture, args: readonly string[], env: Readonly<Record<string, string>>) {
  const hide = 'for at in /usr/bin/bwrap /usr/local/bin/bwrap; do [ -e $at ] && mount --bind /dev/null $at; done; PATH=$1; shift; exec "$@"'
  const own = process.getuid?.() === 0 ? '-m' : '-rm'
  const child = spawn('unshare', [own, 'sh', '-c', hide, 'sh', env['PATH'] ?? '', process.execPath, BIN, ...args], {
    cwd: here.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: here.dir, MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return endOf(child)
}

it('where there is no sandbox, tasks for the shell are left out, and no arm can run a command', async () => {
  using here = place()
  const empty = join(here.data, 'bin')
  mkdirSync(empty, { recursive: true })
  await using model = await scriptedModel(policy({}))
  const env = { PATH: empty }
  const args = ['eval', '--tasks', 'value-in-file,run-command', ...using(model)]
  const { code, stdout } = await withoutBubblewrap(here, args, env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/Skipped because there is no sandbox: run-command/)
  expect(stdout).toMatch(/sandbox: none found, no tools for commands/)
  for (const { body } of model.requests) expect(toolsIn(body)).not.toContain('bash')
  // Commands run without a sandbox only if that is requested by name.
  const bare = await here.run([...args, '--sandbox', 'none', '--json'], { env: { PATH: process.env['PATH'] ?? '' } })
  expect([bare.code, reportIn(bare.stdout).conditions.sandbox, reportIn(bare.stdout).measured]).toEqual([0, 'none', 6])
  const missing = await here.run([...args, '--sandbox', 'docker'], { env })
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--sandbox docker')])
  expect(existsSync(join(here.data, 'mulligan.db'))).toBe(false)
})
