/** Checks that an interrupted command on the real files is not run again under --yes, however it is worded. The ledger is a real file. */
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { sandboxThere } from '../../../host/src/tools/sandbox.fixture.ts'
import { place, using } from '../../test/cli.fixture.ts'

const bash = (command: string, more: object = {}) => call('bash', { command, ...more })
const APPEND = 'echo paid >> ledger'
const SAME = ['plain', 'a space', 'another order', 'inside sh -c', 'another write'] as const
const COMMANDS: Readonly<Record<(typeof SAME)[number], string>> = {
  plain: APPEND,
  'a space': `${APPEND} `,
  'another order': '>> ledger echo paid',
  'inside sh -c': `sh -c '${APPEND}'`,
  'another write': 'touch other',
}

interface Told {
  readonly status: string
  readonly sessionId: string
  readonly calls: readonly { readonly tool: string; readonly result: { readonly ok: boolean; readonly status?: string } }[]
}
const outcome = (stdout: string): Told => JSON.parse(stdout) as Told
const statuses = ({ calls }: Told) => calls.map(({ tool, result }) => `${tool} ${result.ok ? 'ok' : result.status}`)
const lines = (text: string): number => text.split('\n').filter(Boolean).length

describe.skipIf(!(await sandboxThere()))('in a sandbox', () => {
  it('after a kill, the person is told which command to check', async () => {
    using here = place()
    await using model = await scriptedModel([bash('echo paid >> ledger; touch begun; sleep 60', { writes: 'direct' })])
    const { child, ended } = here.start(['Pay.', '--yes', ...using(model)])
    while (!here.has('begun')) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGKILL')
    await ended
    model.push(say('It needs your word.'))
    const { stderr } = await here.run(['Go on.', '--yes', '--last', ...using(model)])
    expect(stderr).toMatch(/^unknown {2}bash .*“echo paid >> ledger; touch begun; sleep 60.*”: bash was cut off/m)
    expect((await here.run(['sessions', 'show', '--last'])).stdout).toMatch(/unknown {2}bash .*“echo paid >> ledger; touch begun/)
  })

  it.each([
    ['stopped', 'SIGINT'],
    ['killed', 'SIGKILL'],
  ] as const)('a command that was cut off when the run was %s: every command that may write is denied; reads and other tools run', async (_, signal) => {
    using here = place()
    await using model = await scriptedModel([bash(`${APPEND}; touch begun; sleep 60`, { writes: 'direct' })])
    const { child, ended } = here.start(['Pay.', '--yes', '--json', ...using(model)])
    while (!here.has('begun')) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill(signal)
    await ended

    model.push(
      ...SAME.map((name) => bash(COMMANDS[name])),
      bash('cat ledger'),
      call('write_file', { path: 'note.txt', content: 'It is not known.' }),
      say('It needs your word.'),
    )
    const { code, stdout } = await here.run(['Go on.', '--yes', '--json', '--last', ...using(model)])
    expect([code, ...statuses(outcome(stdout))]).toEqual([4, ...SAME.map(() => 'bash denied'), 'bash ok', 'write_file ok'])
    expect([here.read('ledger'), here.has('other')]).toEqual(['paid\n', false])
    model.assertDone()
  })

  it.each([
    ['stopped', 'SIGINT'],
    ['killed', 'SIGKILL'],
  ] as const)('one on a layer has done nothing when the run was %s, and is in doubt nowhere', async (_, signal) => {
    using here = place()
    await using model = await scriptedModel([bash(`${APPEND}; echo begun; sleep 60`)])
    const { child, ended } = here.start(['Pay.', '--yes', ...using(model)])
    await new Promise<void>((resolve) => child.stderr?.on('data', (text: string) => /bash: .*begun/.test(text) && resolve()))
    child.kill(signal)
    await ended
    expect(here.has('ledger')).toBe(false)

    model.push(bash(APPEND), say('Paid.'))
    const { code, stdout } = await here.run(['Go on.', '--yes', '--json', '--last', ...using(model)])
    expect([code, ...statuses(outcome(stdout)), here.read('ledger')]).toEqual([0, 'bash ok', 'paid\n'])
  })

  it('control: in a session in which nothing was cut off, each of them runs', async () => {
    using here = place()
    await using model = await scriptedModel([...SAME.map((name) => bash(COMMANDS[name])), say('Done.')])
    const { code, stdout } = await here.run(['Pay.', '--yes', '--json', ...using(model)])
    expect([code, ...statuses(outcome(stdout))]).toEqual([0, ...SAME.map(() => 'bash ok')])
    expect([lines(here.read('ledger')), here.has('other')]).toEqual([4, true])
  })
})
