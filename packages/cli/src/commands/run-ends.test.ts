/** Tests how a run is ended from outside: by signals, and by readers that close the output. */
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../../test/cli.fixture.ts'
import { watchInterrupts } from '../process.ts'

const isWindows = process.platform === 'win32'

describe.skipIf(isWindows)('signals', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s stops the turn, keeps the session, and exits 130', async (signal) => {
    using here = place({ 'a.txt': 'x\n' })
    await using model = await scriptedModel([call('read_file', { path: 'a.txt' }), { fault: { hang: true } }, say('Gone on.')])
    const { child, ended } = here.start(['What does it say?', '--json', ...using(model)])
    await model.arrived(2)
    child.kill(signal)
    const { code, stdout } = await ended
    const outcome = JSON.parse(stdout) as { sessionId: string }
    expect(code).toBe(130)
    expect(outcome).toMatchObject({ status: 'cancelled', stoppedBy: 'user', calls: [{ tool: 'read_file', result: { ok: true } }] })
    const next = await here.run(['run', 'Go on.', '--last', '--json', ...using(model)])
    expect(next.code).toBe(0)
    expect(JSON.parse(next.stdout)).toMatchObject({ sessionId: outcome.sessionId, answer: 'Gone on.' })
    expect(JSON.stringify(model.requests[2]?.body)).toContain('What does it say?')
    model.assertDone()
  })

  it('in text says how to go on, and nothing on stdout', async () => {
    using here = place()
    await using model = await scriptedModel([{ fault: { hang: true } }])
    const { child, ended } = here.start(['Hi', ...using(model)])
    await model.arrived(1)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect([code, stdout]).toEqual([130, ''])
    expect(stderr).toMatch(/Cancelled\. To go on: mulligan run --session \S+ "…"/)
  })

  it('the second ends the process at once', () => {
    const codes: number[] = []
    let told = 0
    const interrupt = watchInterrupts(
      () => told++,
      (code) => codes.push(code),
    )
    interrupt.trigger()
    expect([interrupt.signal.aborted, codes]).toEqual([true, []])
    interrupt.trigger()
    interrupt.dispose()
    expect([told, codes]).toEqual([1, [130]])
  })
})

describe.skipIf(isWindows)('a reader that goes away', () => {
  it('in mid-stream stops the turn without a word', async () => {
    using here = place()
    // Far more than a pipe holds, so that writing to the closed one is always noticed.
    await using model = await scriptedModel([say(Array.from({ length: 5000 }, () => 'word '))])
    const { child, ended } = here.start(['Hi', '--json-stream', ...using(model)])
    child.stdout?.once('data', () => child.stdout?.destroy())
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
  })

  it('before the answer is not a failure', async () => {
    using here = place()
    await using model = await scriptedModel([say('Yes.')])
    const { child, ended } = here.start(['Hi', '--json', ...using(model)])
    child.stdout?.destroy()
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
  })
})
