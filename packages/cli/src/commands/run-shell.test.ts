/**
 * Tests an agent that runs commands in a real sandbox, and continues after each problem: failing tests, an unknown command, a command that
 * hangs, and one with too much output.
 */
import { call, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { sandboxThere } from '../../../host/src/tools/sandbox.fixture.ts'
import { BIN, place, using } from '../../test/cli.fixture.ts'

const FILES = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/price.js': 'export const discounted = (price, percent) => price * (1 + percent / 100)\n',
  'src/price.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discounted } from './price.js'
test('a discount makes it cheaper', () => assert.equal(discounted(10, 25), 7.5))
`,
  'hang.js': "console.log('listening'); setInterval(() => {}, 1000)\n",
  'large.js': "console.log('filling'); const kept = []; for (;;) kept.push(Buffer.alloc(10_000_000, 1))\n",
}

interface Told {
  readonly status: string
  readonly calls: readonly {
    readonly tool: string
    readonly result: { readonly ok: boolean; readonly status?: string; readonly errorType?: string }
  }[]
  readonly answer: string
}

/** Returns the last message that the model received. */
const said = (request: RecordedRequest | undefined): string => {
  const messages = (request?.body as { messages: readonly { readonly content: unknown }[] }).messages
  return String(messages.at(-1)?.content)
}
const bash = (command: string, more: object = {}) => call('bash', { command, ...more })

describe.skipIf(!(await sandboxThere()))('in a sandbox', () => {
  it('tests that fail, a missing command, a hang, too much memory: it continues correctly from each', async () => {
    using here = place(FILES)
    const edits = [{ old_text: '1 + percent', new_text: '1 - percent' }]
    await using model = await scriptedModel([
      bash('npm test'),
      bash('nmp test'),
      bash('node hang.js', { timeout: 2 }),
      bash('node large.js'),
      call('edit_file', { path: 'src/price.js', edits }),
      bash('npm test'),
      say('A discount makes it cheaper now.'),
    ])
    const env = { MULLIGAN_SANDBOX_MEM: '300m' }
    const { code, stdout, stderr } = await here.run(['The tests fail. Repair that.', '--yes', '--json', ...using(model)], { env })
    model.assertDone()
    const outcome = JSON.parse(stdout) as Told
    expect([code, outcome.status, outcome.answer]).toEqual([0, 'answered', 'A discount makes it cheaper now.'])
    const [, failing, missing, hung, large, , passing] = model.requests
    expect(said(failing)).toMatch(/exited with code 1/)
    expect(said(failing)).toContain('12.5 !== 7.5')
    expect(said(missing)).toMatch(/^retry/)
    expect(said(missing)).toContain('npm test')
    expect(said(hung)).toContain('listening')
    expect(said(hung)).toMatch(/2 s/)
    expect(said(large)).toContain('sandbox.memory')
    expect(said(passing)).toMatch(/pass 1/)
    expect(outcome.calls.map(({ tool, result }) => [tool, result.ok ? 'ok' : `${result.status} ${result.errorType}`])).toEqual([
      ['bash', 'failed execution'],
      ['bash', 'retry not_found'],
      ['bash', 'failed timeout'],
      ['bash', expect.stringMatching(/^failed /)],
      ['edit_file', 'ok'],
      ['bash', 'ok'],
    ])
    expect(stderr.match(/Commands run in a sandbox \(/g)).toHaveLength(1)
  })

  it('the card shows what a command prints while it runs', async () => {
    using here = place()
    await using model = await scriptedModel([bash('for n in 1 2 3; do echo line $n; sleep 0.8; done'), say('Done.')])
    const { code, stderr } = await here.run(['Count.', '--yes', ...using(model)])
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^ {2}bash: line 1$/m)])
  })

  it('a background command ends with the session, and so does all when the run is stopped', async () => {
    using here = place()
    await using model = await scriptedModel([
      bash('while :; do date +%s%N > beat; sleep 0.05; done', { background: true }),
      say('It runs.'),
      bash('while :; do date +%s%N > beat2; sleep 0.05; done', { timeout: 60, writes: 'direct' }),
    ])
    expect((await here.run(['Start it.', '--yes', ...using(model)])).code).toBe(0)
    expect(await changes(here.read, 'beat')).toBe(false)

    const { child, ended } = here.start(['Again.', '--yes', ...using(model)])
    while (!here.has('beat2')) await pause(50)
    // Control: it writes while it is running.
    expect(await changes(here.read, 'beat2')).toBe(true)
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    expect(await changes(here.read, 'beat2')).toBe(false)
  })

  it('a check runs in it too, for it may run what the model has written', async () => {
    const checked = async (env: Readonly<Record<string, string>>) => {
      using here = place({ '../key': 'secret', 'a.js': 'one\n', 'check.mjs': CHECK })
      const command = ['node', 'check.mjs', here.dir.replace(/work$/, 'key')]
      here.write('../.config/mulligan/config.json', JSON.stringify({ diagnostics: [{ include: '*.js', command }] }))
      const edit = call('edit_file', { path: 'a.js', edits: [{ old_text: 'one', new_text: 'two' }] })
      await using model = await scriptedModel([call('read_file', { path: 'a.js' }), edit, say('Done.')])
      expect((await here.run(['Edit it.', '--yes', ...using(model)], { env })).code).toBe(0)
      return said(model.requests[2])
    }
    expect(await checked({})).toMatch(/nothing new/)
    // Control: outside of the sandbox, it sees the key.
    expect(await checked({ MULLIGAN_SANDBOX: 'none' })).toContain('the key is there')
  })
})

/** Reports an error in the change if it sees the key. */
const CHECK = `import { existsSync, readFileSync } from 'node:fs'
if (existsSync(process.argv[2]) && readFileSync('a.js', 'utf8') === 'two\\n') console.log('a.js:1:1: error the key is there')
`

it('where no sandbox can be opened, the command is refused, with what to install, and nothing runs', async () => {
  using here = place()
  await using model = await scriptedModel([bash('touch ran'), say('It could not be run.')])
  const env = { MULLIGAN_SANDBOX: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' }
  const { stdout } = await here.run(['Run it.', '--yes', '--json', ...using(model)], { env })
  const { calls } = JSON.parse(stdout) as Told
  expect(calls[0]?.result).toMatchObject({ ok: false, status: 'failed', errorType: 'sandbox' })
  expect(said(model.requests[1])).toMatch(/install/i)
  expect(said(model.requests[1])).not.toContain(BIN)
  expect(here.has('ran')).toBe(false)
})

it('where no sandbox can be opened, a check is not run either: the change stands, and it is said why', async () => {
  using here = place({
    'a.js': 'one\n',
    'mulligan.json': JSON.stringify({ diagnostics: [{ include: '*.js', command: ['touch', 'ran'] }] }),
  })
  expect((await here.run(['trust', '--yes'])).code).toBe(0)
  const edit = call('edit_file', { path: 'a.js', edits: [{ old_text: 'one', new_text: 'two' }] })
  await using model = await scriptedModel([call('read_file', { path: 'a.js' }), edit, say('Done.')])
  const env = { MULLIGAN_SANDBOX: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' }
  expect((await here.run(['Edit it.', '--yes', ...using(model)], { env })).code).toBe(0)
  expect(said(model.requests[2])).toMatch(/Edited a\.js[\s\S]*"touch ran" could not be run: the sandbox could not start \(/)
  expect([here.read('a.js'), here.has('ran')]).toEqual(['two\n', false])
})

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function changes(read: (path: string) => string, path: string): Promise<boolean> {
  const before = read(path)
  for (let tries = 0; tries < 20; tries++) {
    await pause(50)
    if (read(path) !== before) return true
  }
  return false
}
