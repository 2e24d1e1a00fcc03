/** Tests the command in a real terminal, provided by `script` from util-linux. */
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place } from '../../test/cli.fixture.ts'
import { ASKS, hasTerminal, inTerminal } from '../../test/terminal.fixture.ts'

const WRITE = call('write_file', { path: 'a.txt', content: 'new\n' })

// In CI, these tests fail if `script` is missing.
describe.skipIf(!hasTerminal)('in a terminal', () => {
  it('asks before it writes, shows the answer as it comes and the ledger under it', async () => {
    using here = place()
    await using model = await scriptedModel([WRITE, say(['It is', ' written.'])])
    const { code, stdout } = await inTerminal(here, model, [[ASKS, 'y\r']])
    expect([code, here.has('a.txt')]).toEqual([0, true])
    expect(stdout).toContain('? write_file (write) a.txt\n    a.txt (new)\n    1 + new\n')
    expect(stdout).toMatch(
      /✓ write_file a\.txt [\s\S]*\nIt is written\.\n\nchanged {2}write_file a\.txt\nopenai-compatible\/scripted · on this machine/,
    )
  })

  it('passes on a no with its reason', async () => {
    using here = place()
    await using model = await scriptedModel([WRITE, say('I leave it.')])
    const { code, stdout } = await inTerminal(here, model, [[ASKS, 'n not that file\r']])
    expect([code, here.has('a.txt')]).toEqual([0, false])
    expect(stdout).toContain('✗ write_file a.txt denied permission: The user said no. Reason: not that file')
    expect(JSON.stringify(model.requests[1]?.body)).toContain('Reason: not that file')
  })

  it('Ctrl-C at the question stops the turn', async () => {
    using here = place()
    await using model = await scriptedModel([WRITE])
    const { code, stdout } = await inTerminal(here, model, [[ASKS, '\u0003']])
    expect([code, here.has('a.txt')]).toEqual([130, false])
    expect(stdout).toMatch(/Cancelled\. To go on: mulligan run --session/)
  })

  it('names text that is discarded and begins again on a line of its own', async () => {
    using here = place()
    await using model = await scriptedModel([say('A first try that breaks', { fault: { cut: 'mid-text' } }), say('Whole.')])
    const { code, stdout } = await inTerminal(here, model, [])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^A first[^\n]*\nDiscarded: [^\n]*\n! [^\n]*\nWhole\.\n\n/)
  })
})
