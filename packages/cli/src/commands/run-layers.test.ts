/** Tests commands on throwaway layers, with the real command: their changes are shown, kept or discarded, and undone. */
import { execFileSync } from 'node:child_process'
import { createSandbox } from '@mulligan/sandbox'
import { call, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, using } from '../../test/cli.fixture.ts'
import { ASKS, hasTerminal, inTerminal } from '../../test/terminal.fixture.ts'

const bash = (command: string, more: object = {}) => call('bash', { command, ...more })
const TOUCH = { include: '*.txt', command: ['touch', 'checked'] }
const CHANGE = 'sed -i s/one/two/ a.txt && rm old.txt && mkdir new && echo x > new/b.txt && echo printed'
const FILES = { 'a.txt': 'one\n', 'old.txt': 'old\n' }
const NOTHING = ['one\n', true, false]
const ALL = ['two\n', false, true]
const now = (here: CliFixture) => [here.read('a.txt'), here.has('old.txt'), here.has('new/b.txt')]

/** Returns the last message that the model received. */
const said = (request: RecordedRequest | undefined): string =>
  String((request?.body as { messages: readonly { readonly content: unknown }[] }).messages.at(-1)?.content)

async function unattended(here: CliFixture, command: string, flags: readonly string[], input: object = {}) {
  await using model = await scriptedModel([bash(command, input), say('Done.')])
  const { code, stderr } = await here.run(['Do it.', ...flags, ...using(model)])
  return { code, stderr, read: said(model.requests[1]) }
}

const hasLayers = await (async () => {
  using here = place()
  const sandbox = await createSandbox({ workspace: here.dir }).catch(() => undefined)
  const support = await sandbox?.layers()
  await sandbox?.close()
  if (process.env['CI'] && support?.hold !== 'overlay') throw new Error(`there are no layers to test: ${support?.by ?? 'no sandbox'}`)
  return support?.hold === 'overlay'
})()

describe.skipIf(!hasLayers)('without a terminal', () => {
  it('--yes keeps what a command did, the ledger names it, and undo takes it back', async () => {
    using here = place(FILES)
    const { code, stderr, read } = await unattended(here, CHANGE, ['--yes'])
    expect([code, now(here)]).toEqual([0, ALL])
    expect(read).toMatch(/^printed[\s\S]*Kept: 1 file changed, 1 added, 1 deleted\./)
    expect(stderr).toMatch(/^✓ bash .* kept a\.txt, new\/b\.txt, old\.txt$/m)
    expect(stderr).toMatch(/^changed {2}bash a\.txt, new\/b\.txt, old\.txt$/m)
    expect(await here.run(['undo'])).toMatchObject({ code: 0 })
    expect(now(here)).toEqual(NOTHING)
    expect(await here.run(['redo'])).toMatchObject({ code: 0 })
    expect(now(here)).toEqual(ALL)
  })

  it('without --yes it is discarded: the model is told, the ledger says denied, and the exit code is 4', async () => {
    using here = place(FILES)
    const { code, stderr, read } = await unattended(here, CHANGE, [])
    expect([code, now(here)]).toEqual([4, NOTHING])
    expect(read).toMatch(/^denied[\s\S]*discarded \(1 file changed, 1 added, 1 deleted\): none took effect[\s\S]*printed/)
    expect(stderr).toMatch(/^denied {3}bash .*discarded/m)
    expect(await here.run(['undo'])).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to undo') })
  })

  it.each([
    ['auto-edit', 0, ALL],
    ['auto', 0, ALL],
    ['read-only', 0, NOTHING],
  ])('the mode %s: exit code %i', async (mode, code, files) => {
    using here = place(FILES)
    const ended = await unattended(here, CHANGE, ['--mode', mode])
    expect([ended.code, now(here)]).toEqual([code, files])
    if (mode === 'read-only') expect(ended.read).toMatch(/^denied[\s\S]*discarded[\s\S]*The mode is read-only[\s\S]*printed/)
  })

  it('what only reads asks in no mode', async () => {
    using here = place(FILES)
    const { code, read } = await unattended(here, 'for f in *.txt; do cat "$f"; done | sort', ['--mode', 'read-only'])
    expect([code, read]).toEqual([0, 'old\none'.split('\n').sort().join('\n')])
  })

  it.each([
    ['a git hook', 'echo x > .git/hooks/post-commit', '.git/hooks/post-commit'],
    ['settings', 'echo {} > mulligan.json', 'mulligan.json'],
    ['what destroys', 'rm -rf ./*', ''],
  ])('%s is kept by no --yes, mode or rule', async (_, command, made) => {
    using here = place({ ...FILES, '../.config/mulligan/config.json': JSON.stringify({ policy: [{ decision: 'allow' }] }) })
    execFileSync('git', ['init', '-q'], { cwd: here.dir })
    const { code, stderr } = await unattended(here, command, ['--yes', '--mode', 'auto'])
    expect([code, now(here), made !== '' && here.has(made)]).toEqual([4, NOTHING, false])
    expect(stderr).toMatch(/^denied/m)
    // Control: another file of the same folder.
    expect((await unattended(here, 'echo x > .git/note', ['--yes'])).code).toBe(0)
    expect(here.has('.git/note')).toBe(true)
  })

  it('what must write the real files asks before', async () => {
    using here = place(FILES)
    expect(await unattended(here, CHANGE, ['--mode', 'auto-edit'], { writes: 'direct' })).toMatchObject({ code: 4 })
    expect(now(here)).toEqual(NOTHING)
    expect(await unattended(here, CHANGE, ['--yes'], { writes: 'direct' })).toMatchObject({ code: 0 })
    expect(now(here)).toEqual(ALL)
  })

  it('secret files are empty for a command, except for those that sandbox.readable names', async () => {
    using here = place({ '.env': 'TOKEN=1\n' })
    expect((await unattended(here, 'cat .env', [])).read).not.toContain('TOKEN')
    expect(await here.run(['config', 'set', 'sandbox.readable', '.env'])).toMatchObject({ code: 0 })
    expect((await unattended(here, 'cat .env', [])).read).toContain('TOKEN=1')
  })

  it('a check after an edit changes nothing', async () => {
    const checked = async (env: Readonly<Record<string, string>>) => {
      using here = place({ ...FILES, '../.config/mulligan/config.json': JSON.stringify({ diagnostics: [TOUCH] }) })
      const edit = call('edit_file', { path: 'a.txt', edits: [{ old_text: 'one', new_text: 'two' }] })
      await using model = await scriptedModel([call('read_file', { path: 'a.txt' }), edit, say('Done.')])
      expect((await here.run(['Edit it.', '--yes', ...using(model)], { env })).code).toBe(0)
      expect(said(model.requests[2])).toContain('nothing new')
      return here.has('checked')
    }
    expect([await checked({}), await checked({ MULLIGAN_SANDBOX: 'none' })]).toEqual([false, true])
  })

  it('a call by hand is decided about in the same way', async () => {
    using here = place(FILES)
    const input = JSON.stringify({ command: CHANGE })
    expect(await here.run(['tools', 'call', 'bash', input])).toMatchObject({ code: 1, stdout: expect.stringContaining('discarded') })
    expect(now(here)).toEqual(NOTHING)
    expect(await here.run(['tools', 'call', 'bash', input, '--yes'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Kept:') })
    expect(now(here)).toEqual(ALL)
    expect(await here.run(['undo'])).toMatchObject({ code: 0 })
    expect(now(here)).toEqual(NOTHING)
  })
})

// In CI, these tests fail if `script` is missing.
describe.skipIf(!hasTerminal || !hasLayers)('in a terminal', () => {
  it('the question shows what was done; a yes keeps it, and undo takes it back', async () => {
    using here = place(FILES)
    await using model = await scriptedModel([bash(CHANGE), say('Done.')])
    const { code, stdout } = await inTerminal(here, model, [[ASKS, 'y\r']])
    expect([code, now(here)]).toEqual([0, ALL])
    expect(stdout).toMatch(
      /\? bash \(write\) .*\n {2}It has run, but its changes are not kept yet: 1 file changed, 1 added, 1 deleted\.\n[\s\S]* 1 - one\n +1 \+ two\n[\s\S]* {4}command: sed -i /,
    )
    expect(stdout).toMatch(/✓ bash .* kept a\.txt, new\/b\.txt, old\.txt/)
    expect(await here.run(['undo'])).toMatchObject({ code: 0 })
    expect(now(here)).toEqual(NOTHING)
  })

  it('a no changes nothing, and the model is told what was not kept, why, and what was printed', async () => {
    using here = place(FILES)
    await using model = await scriptedModel([bash(CHANGE), bash('cat a.txt'), say('I leave it.')])
    const { code } = await inTerminal(here, model, [[ASKS, 'n not that file\r']])
    expect([code, now(here)]).toEqual([0, NOTHING])
    expect(said(model.requests[1])).toMatch(
      /^denied[\s\S]*discarded \(1 file changed, 1 added, 1 deleted\)[\s\S]*Reason: not that file[\s\S]*printed/,
    )
    expect(said(model.requests[2])).toBe('one')
  })

  it('a session answer keeps what the same command does, and asks about others and on the real files', async () => {
    using here = place(FILES)
    const command = 'touch made.txt'
    const again = bash(`rm made.txt; mkdir more; ${command}`)
    await using model = await scriptedModel([bash(command), bash(command, { writes: 'direct' }), again, say('Done.')])
    const { stdout } = await inTerminal(here, model, [
      [ASKS, 's\r'],
      [ASKS, 'y\r'],
      [ASKS, 'n\r'],
    ])
    expect([stdout.match(/\? bash \(write\)/g)?.length, here.has('made.txt'), here.has('more')]).toEqual([3, true, false])
  })

  it('only a person keeps a git hook', async () => {
    using here = place(FILES)
    execFileSync('git', ['init', '-q'], { cwd: here.dir })
    await using model = await scriptedModel([bash('echo x > .git/hooks/post-commit'), say('Done.')])
    const { code, stdout } = await inTerminal(here, model, [[ASKS, 'y\r']], ['--yes', ...using(model)])
    expect([code, here.read('.git/hooks/post-commit')]).toEqual([0, 'x\n'])
    expect(stdout).toMatch(/Needs approval: it changes \.git\/hooks\/post-commit, .*\. Only you can approve it\.\n.*\[y\]es once, \[n\]o/)
    expect(stdout).toMatch(/ {4}\.git\/hooks\/post-commit \(new\)\n {4}1 \+ x\n/)
  })
})
