/** Tests modes, rules and questions with the real command. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, trusted, using } from '../../test/cli.fixture.ts'
import { ASKS, hasTerminal, inTerminal } from '../../test/terminal.fixture.ts'

const OWN = '../.config/mulligan/config.json'
const PROJECT = 'mulligan.json'
const json = (value: unknown): string => JSON.stringify(value)
const WRITE = call('write_file', { path: 'a.txt', content: 'new\n' })
const bash = (command: string, more: object = {}): ScriptedTurn => call('bash', { command, ...more })
const OWN_TOOL = (name: string, effect: string, more = '') => ({
  [`.mulligan/tools/${name}.mjs`]: `import { defineTool } from 'mulligan'
export default defineTool({ name: '${name}', description: '${name}', effect: '${effect}', ${more}
  input: { type: 'object', properties: { to: { type: 'string' } } }, execute: () => 'done' })`,
})

/** Returns the statuses of the calls of a turn without a terminal, and how it ended. */
async function unattended(here: CliFixture, calls: readonly ScriptedTurn[], flags: readonly string[] = []) {
  await using model = await scriptedModel([...calls, say('Done.')])
  const { code, stdout } = await here.run(['Do it.', '--json', ...flags, ...using(model)])
  const { calls: made } = JSON.parse(stdout) as { calls: { result: { ok: boolean; status?: string; error?: string } }[] }
  return { code, results: made.map(({ result }) => (result.ok ? 'ok' : result.status)), errors: made.map(({ result }) => result.error) }
}

describe('without a terminal', () => {
  it.each([
    ['ask', [], 4, 'denied', false],
    ['read-only', [], 0, 'denied', false],
    ['read-only', ['--yes'], 0, 'denied', false],
    ['auto-edit', [], 0, 'ok', true],
    ['auto', [], 0, 'ok', true],
  ])('mode %s %j: a write comes to exit code %i and is %s', async (mode, flags, code, result, isThere) => {
    using here = place()
    expect(await unattended(here, [WRITE], ['--mode', mode, ...flags])).toMatchObject({ code, results: [result] })
    expect(here.has('a.txt')).toBe(isThere)
  })

  it('in the laxest mode what leaves the machine still asks; --yes allows it', async () => {
    using here = trusted(place(OWN_TOOL('send', 'external')))
    const send = call('send', { to: 'ann' })
    expect(await unattended(here, [send], ['--mode', 'auto'])).toMatchObject({ code: 4, results: ['denied'] })
    expect(await unattended(here, [send], ['--mode', 'auto', '--yes'])).toMatchObject({ code: 0, results: ['ok'] })
  })

  it('a rule denies, whatever --yes and the mode say; one of the person allows', async () => {
    using here = place({
      [PROJECT]: json({ policy: [{ decision: 'deny', target: 'b.txt', reason: 'b.txt is made by hand.' }] }),
      [OWN]: json({ policy: [{ decision: 'allow', tool: 'write_file' }] }),
    })
    const other = call('write_file', { path: './b.txt', content: 'new\n' })
    expect(await unattended(here, [WRITE, other], ['--yes', '--mode', 'auto'])).toMatchObject({
      results: ['ok', 'denied'],
      errors: [undefined, 'b.txt is made by hand.'],
    })
    expect([here.has('a.txt'), here.has('b.txt')]).toEqual([true, false])
  })

  it('a project that would allow is refused', async () => {
    using here = place({ [PROJECT]: json({ policy: [{ decision: 'allow', effect: 'write' }] }) })
    const { code, stderr } = await here.run(['Do it.', '--model', 'x', '--base-url', 'http://127.0.0.1:9'])
    expect([code, stderr]).toEqual([2, expect.stringContaining("policy[0] allows calls, which a project can't decide")])
  })

  it('config shows mode and rules, and where they come from', async () => {
    using here = place({
      [PROJECT]: json({ mode: 'read-only', policy: [{ decision: 'deny', tool: 'bash' }] }),
      [OWN]: json({ mode: 'auto', policy: [{ decision: 'allow', tool: 'write_file' }] }),
    })
    const { settings } = JSON.parse((await here.run(['config', '--json'])).stdout) as { settings: { key: string }[] }
    expect(settings.filter(({ key }) => key === 'mode' || key === 'policy')).toEqual([
      { key: 'mode', value: 'read-only', from: PROJECT },
      { key: 'policy', value: { decision: 'allow', tool: 'write_file' }, from: '~/.config/mulligan/config.json' },
      { key: 'policy', value: { decision: 'deny', tool: 'bash' }, from: PROJECT },
    ])
  })

  it('a mode that there is not', async () => {
    using here = place()
    const { code, stderr } = await here.run(['Do it.', '--mode', 'yolo'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('The modes are read-only, ask, auto-edit, auto.')])
  })

  it('of the shell, destructive commands need a person whatever is allowed, --yes notwithstanding', async () => {
    using here = place({ [OWN]: json({ policy: [{ decision: 'allow' }] }), 'keep.txt': 'x', '../.ssh/id_rsa': 'KEY' })
    const results = await unattended(
      here,
      [
        bash('rm -rf ./*'),
        bash('rm() { echo; }; command rm -rf ./*'),
        bash('rm -rf .', { writes: 'direct' }),
        bash('true; cat ~/.ssh/id_rsa', { writes: 'direct' }),
      ],
      ['--yes', '--mode', 'auto'],
    )
    expect(results).toMatchObject({ code: 4, results: ['denied', 'denied', 'denied', 'denied'] })
    expect(here.has('keep.txt')).toBe(true)
    // On a layer, the file does not exist.
    expect(await unattended(here, [bash('true; cat ~/.ssh/id_rsa')], ['--yes'])).toMatchObject({ results: ['failed'] })
  })

  it('a rule for one command is none for those beside it', async () => {
    using here = place({ [OWN]: json({ policy: [{ decision: 'allow', tool: 'bash', target: 'mkdir *' }] }) })
    const scripts = ['mkdir a; touch b', 'mkdir a$(touch b)', 'mkdir a `touch b`', 'mkdir a | xargs touch b', 'mkdir a > b']
    expect(
      await unattended(
        here,
        scripts.map((script) => bash(script)),
      ),
    ).toMatchObject({ code: 4, results: scripts.map(() => 'denied') })
    expect([here.has('a'), here.has('b')]).toEqual([false, false])
  })

  describe('once content from outside was read', () => {
    const read = call('page', {})
    const outside = { ...OWN_TOOL('page', 'read', 'untrusted: true,'), ...OWN_TOOL('trusted_page', 'read') }
    it('a command that can reach the network needs a person, --yes notwithstanding', async () => {
      using here = trusted(place({ ...outside, [OWN]: json({ sandbox: { network: 'bridge' }, policy: [{ decision: 'allow' }] }) }))
      expect(await unattended(here, [read, bash('touch b')], ['--yes'])).toMatchObject({ code: 4, results: ['ok', 'denied'] })
    })

    it('control: one that can not, or after content that is trusted, does not', async () => {
      using here = trusted(place(outside))
      expect((await unattended(here, [read, bash('touch b')], ['--yes'])).results[1]).not.toBe('denied')
      using networked = trusted(place({ ...outside, [OWN]: json({ sandbox: { network: 'bridge' } }) }))
      expect((await unattended(networked, [call('trusted_page', {}), bash('touch b')], ['--yes'])).results[1]).not.toBe('denied')
    })
  })
})

// In CI, these tests fail if `script` is missing.
describe.skipIf(!hasTerminal)('in a terminal', () => {
  it('"always" shows the rule, writes it to the own file, and nobody is asked again', async () => {
    using here = place({ [OWN]: '{\n  // mine\n  "mode": "ask",\n}\n' })
    await using model = await scriptedModel([WRITE, call('write_file', { path: 'b.txt', content: 'b\n' }), say('Done.')])
    const { code, stdout } = await inTerminal(here, model, [
      [ASKS, 'a\r'],
      ['[n]othing:', '2\r'],
    ])
    expect([code, here.has('a.txt'), here.has('b.txt')]).toEqual([0, true, true])
    expect(stdout).toContain('To be written to "policy" in ~/.config/mulligan/config.json:')
    expect(readFileSync(join(here.dir, OWN), 'utf8')).toBe(
      `{\n  // mine\n  "mode": "ask",\n  "policy": [\n    { "decision": "allow", "tool": "write_file", "effect": "write", "folder": "~/work" }\n  ],\n}\n`.replace(
        '  ],\n}',
        '  ]\n}',
      ),
    )
    expect(here.has(PROJECT)).toBe(false)
    expect(await unattended(here, [call('write_file', { path: 'c.txt', content: 'c\n' })])).toMatchObject({ code: 0, results: ['ok'] })
  })

  it('a no to what a script did is a no to each of its commands, however they are written', async () => {
    using here = place({ 'build/a': 'a', 'lib/build/a': 'a' })
    const again = [bash('rm "-r"  build'), bash('touch x; rm -r build'), bash('rm -r ./build/'), bash('cd lib; rm -r build')]
    await using model = await scriptedModel([bash('touch x && rm -r build'), ...again, say('I leave it.')])
    const { stdout } = await inTerminal(here, model, [
      [ASKS, 'n not now\r'],
      [ASKS, 'n\r'],
    ])
    expect(
      stdout.match(/denied permission: The command's changes were discarded \(.*\): none took effect\. The user said no\./g),
    ).toHaveLength(2)
    expect(stdout.match(/denied permission: It was refused before in this turn\. Reason: not now/g)).toHaveLength(3)
    expect(stdout).toContain('  It has run, but its changes are not kept yet: 1 file added, 1 deleted.\n')
    expect([here.has('x'), here.has('build/a'), here.has('lib/build/a')]).toEqual([false, true, true])
  })
})
