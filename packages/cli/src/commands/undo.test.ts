import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, trusted, using } from '../../test/cli.fixture.ts'

const text = ({ dir }: CliFixture, path: string): string => readFileSync(join(dir, path), 'utf8')

/** Makes a single tool call, which is a separate turn. */
async function change(here: CliFixture, tool: string, input: Readonly<Record<string, unknown>>): Promise<void> {
  const { code, stderr, stdout } = await here.run(['tools', 'call', tool, JSON.stringify(input), '--yes'])
  if (code !== 0) throw new Error(stdout + stderr)
}

const edit = (path: string, from: string, to: string) => ({ path, edits: [{ old_text: from, new_text: to }] })
const only = (folder: string): string => join(folder, readdirSync(folder)[0] as string)

describe('undo', () => {
  it('takes back a turn of the agent as a whole, and redo makes it again', async () => {
    using here = place({ 'a.txt': 'one\n' })
    await using model = await scriptedModel([
      call('edit_file', edit('a.txt', 'one', 'two')),
      call('write_file', { path: 'new/b.txt', content: 'b\n' }),
      say('Done.'),
    ])
    await here.run(['change it', '--yes', ...using(model)])
    expect(text(here, 'a.txt')).toBe('two\n')
    const listed = await here.run(['undo', '--list'])
    expect(listed.stdout).toMatch(/^TURN +WHEN +STATE +FILES +PROMPT\n\S+\/1 .*a\.txt and 1 more +change it\n$/)
    const undone = await here.run(['undo'])
    expect(undone).toMatchObject({ code: 0, stderr: '' })
    expect(undone.stdout).toMatch(/^Undone: \S+\/1\n {2}removed {3}new\/b\.txt\n {2}removed {3}new\n {2}restored {2}a\.txt\n$/)
    expect(text(here, 'a.txt')).toBe('one\n')
    expect(here.has('new')).toBe(false)
    expect((await here.run(['redo'])).code).toBe(0)
    expect(text(here, 'new/b.txt')).toBe('b\n')
  })

  it('does not take back an earlier turn for one whose command changed files; named by its number, it does, and the model is told', async () => {
    using here = trusted(place({ 'a.txt': 'one\n' }))
    await using model = await scriptedModel([
      call('edit_file', edit('a.txt', 'one', 'two')),
      say('Changed.'),
      call('bash', { command: 'echo new > b.txt', writes: 'direct' }),
      say('Made.'),
      say('I see.'),
      say('And now?'),
    ])
    await here.run(['change it', '--yes', ...using(model)])
    await here.run(['make it', '-c', '--yes', ...using(model)])
    expect(here.has('b.txt')).toBe(true)
    const refused = await here.run(['undo'])
    expect([refused.code, text(here, 'a.txt')]).toEqual([2, 'two\n'])
    expect(refused.stderr).toMatch(/the latest changes can't be undone, because they were not recorded: bash .*mulligan undo \S+\/1\n/s)
    expect(await here.run(['undo', '1'])).toMatchObject({ code: 0 })
    expect(text(here, 'a.txt')).toBe('one\n')
    expect((await here.run(['sessions', 'show', '--last'])).stdout).toMatch(
      /changed {2}edit_file a\.txt\n\n\*The changes to files were undone\.\*/,
    )
    const sentLast = (): string =>
      JSON.stringify((model.requests.at(-1)?.body as { readonly messages: readonly unknown[] }).messages.at(-1))
    await here.run(['go on', '--continue', ...using(model)])
    expect(sentLast()).toMatch(/I have undone the changes that you made in turn \S+\/1: a\.txt\. Read .*go on/)
    // Told once.
    await here.run(['go on', '--last', ...using(model)])
    expect(sentLast()).not.toContain('undone')
    await here.run(['redo', '1'])
    model.push(say('Fine.'))
    await here.run(['go on', '--last', ...using(model)])
    expect(sentLast()).toMatch(/I have restored the changes/)
  })

  it('says which commits of the turn stay; the ledger names them', async () => {
    using here = place({ 'a.txt': 'one\n' })
    for (const args of [
      ['init', '-q'],
      ['config', 'user.name', 'Ann'],
      ['config', 'user.email', 'ann@example.org'],
    ])
      spawnSync('git', args, { cwd: here.dir })
    await using model = await scriptedModel([
      call('edit_file', edit('a.txt', 'one', 'two')),
      call('git_commit', { message: 'Change a.txt', all: true }),
      say('Done.'),
    ])
    const run = await here.run(['change it', '--yes', ...using(model)])
    const hash = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: here.dir, encoding: 'utf8' }).stdout.slice(0, 7)
    expect(run.stderr).toMatch(/^✓ git_commit Change a\.txt /m)
    expect(run.stderr).toContain(`changed  git_commit ${hash} Change a.txt\n`)
    const { code, stderr } = await here.run(['undo'])
    expect([code, stderr]).toEqual([0, `The commit ${hash} Change a.txt stays; git revert or git reset undoes it.\n`])
    expect((await here.run(['redo'])).stderr).toBe('')
  })

  it('goes back one turn after the other, and names one', async () => {
    using here = place({ 'a.txt': '1\n', 'b.txt': '1\n' })
    await change(here, 'edit_file', edit('a.txt', '1', '2'))
    await change(here, 'edit_file', edit('b.txt', '1', '2'))
    await change(here, 'edit_file', edit('a.txt', '2', '3'))
    await here.run(['undo'])
    expect(text(here, 'a.txt')).toBe('2\n')
    const { turns } = JSON.parse((await here.run(['undo', '--list', '--json'])).stdout)
    expect(turns.map(({ undone }: { undone: boolean }) => undone)).toEqual([true, false, false])
    const first = turns[2].turn as string
    const { code, stdout } = await here.run(['undo', first, '--json'])
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { done: true, turn: first, changes: [{ kind: 'changed', path: 'a.txt' }] }])
    expect([text(here, 'a.txt'), text(here, 'b.txt')]).toEqual(['1\n', '2\n'])
    expect((await here.run(['redo', first.slice('call/'.length, -8)])).code).toBe(0)
    expect((await here.run(['undo', first.slice(0, -8)])).code).toBe(0)
    const many = await here.run(['diff', 'call/'])
    expect([many.code, many.stderr]).toEqual([2, expect.stringContaining('3 turns begin with call/')])
    const slip = await here.run(['undo', `${first.slice(0, -1)}x`])
    expect(slip.code).toBe(2)
    expect(slip.stderr).toContain('did you mean call/')
    const again = await here.run(['undo', first])
    expect([again.code, again.stderr]).toMatchObject([2, expect.stringContaining(`mulligan redo ${first}`)])
  })

  it('a file that somebody else has changed: nothing is done without --force', async () => {
    using here = place({ 'a.txt': '1\n' })
    await change(here, 'edit_file', edit('a.txt', '1', '2'))
    here.write('a.txt', 'mine\n')
    const refused = await here.run(['undo'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^Conflict: a\.txt: it was changed since\nNothing was done\. --force/)
    expect(text(here, 'a.txt')).toBe('mine\n')
    expect((await here.run(['undo', '--force'])).code).toBe(0)
    expect(text(here, 'a.txt')).toBe('1\n')
  })

  it('says what was not restored, and continues it', async () => {
    using here = place({ 'a.txt': '1\n', 'b.txt': '1\n' })
    await using model = await scriptedModel([
      call('edit_file', edit('a.txt', '1', '2')),
      call('edit_file', edit('b.txt', '1', '2')),
      say('Done.'),
    ])
    await here.run(['change it', '--yes', ...using(model)])
    await change(here, 'move_file', { path: 'a.txt', to: 'c.txt' })
    const { turns } = JSON.parse((await here.run(['undo', '--list', '--json'])).stdout)
    const first = turns[1].turn as string
    const partly = await here.run(['undo', first, '--force'])
    expect([partly.code, partly.stderr]).toEqual([1, `Left: a.txt: it was moved to c.txt by turn ${turns[0].turn}: undo that first\n`])
    expect(text(here, 'b.txt')).toBe('1\n')
    const again = await here.run(['undo', first, '--force'])
    expect([again.code, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toContain('Nothing was done')
    await here.run(['undo', turns[0].turn])
    expect((await here.run(['undo', first])).code).toBe(0)
    expect(text(here, 'a.txt')).toBe('1\n')
  })

  it('nothing to undo, and a folder that was moved', async () => {
    using here = place({ 'sub/a.txt': '1\n' })
    const empty = await here.run(['undo'])
    expect([empty.code, empty.stderr]).toMatchObject([2, expect.stringContaining('nothing to undo')])
    expect((await here.run(['undo', '--list'])).stdout).toBe('No turn has changed anything here.\n')
    await here.run(['tools', 'call', 'delete_file', '{"path":"a.txt"}', '--yes', '--cwd', 'sub'])
    renameSync(join(here.dir, 'sub'), join(here.dir, 'moved'))
    const moved = await here.run(['undo', '--cwd', 'moved'])
    expect([moved.code, moved.stderr]).toMatchObject([2, expect.stringContaining('If it was moved')])
  })

  it('.git is never touched', async () => {
    using here = place({ '.git/config': 'x', 'a.txt': '1\n' })
    await change(here, 'edit_file', edit('a.txt', '1', '2'))
    here.write('.git/index', 'y')
    await here.run(['undo'])
    expect(readdirSync(join(here.dir, '.git')).sort()).toEqual(['config', 'index'])
  })

  it('a damaged record is told, and the rest works', async () => {
    using here = place({ 'a.txt': '1\n', 'b.txt': '1\n' })
    await change(here, 'edit_file', edit('a.txt', '1', '2'))
    const done = join(only(join(here.data, 'changes')), 'done')
    writeFileSync(only(done), 'nonsense')
    await change(here, 'edit_file', edit('b.txt', '1', '2'))
    expect((await here.run(['undo', '--list'])).stdout).toMatch(/ damaged\n$/)
    expect((await here.run(['undo'])).code).toBe(0)
    expect(text(here, 'b.txt')).toBe('1\n')
    expect(await here.run(['undo'])).toMatchObject({ code: 1, stderr: expect.stringContaining('record of this turn') })
  })

  it('a store that cannot be written: said as it is, and nothing is done', async () => {
    using here = place({ 'a.txt': '1\n' })
    await change(here, 'edit_file', edit('a.txt', '1', '2'))
    const pending = join(only(join(here.data, 'changes')), 'pending')
    rmSync(pending, { recursive: true })
    writeFileSync(pending, '')
    const { code, stderr } = await here.run(['undo'])
    expect(code).toBe(1)
    expect(stderr).toContain("can't be recorded")
    expect(stderr).not.toContain('defect')
    expect(text(here, 'a.txt')).toBe('2\n')
  })
})

describe('what was cut off', () => {
  it('is put right at the next start, and said', async () => {
    using here = place({ 'a.txt': '1\n' })
    await change(here, 'write_file', { path: 'new.txt', content: 'x\n' })
    const folder = only(join(here.data, 'changes'))
    const done = join(folder, 'done')
    const name = readdirSync(done)[0] as string
    const changeset = JSON.parse(readFileSync(join(done, name), 'utf8'))
    rmSync(join(done, name))
    // The state left by a process that was killed before it marked the change as done.
    writeFileSync(join(folder, 'pending', name), JSON.stringify({ ...changeset, owner: { ...changeset.owner, pid: 2 ** 22 } }))
    writeFileSync(join(here.dir, changeset.steps[0].temporary), 'half')
    const { code, stderr, stdout } = await here.run(['tools', 'call', 'list_dir', '{"hidden": true}'])
    expect([code, stderr]).toEqual([0, 'An earlier run was interrupted during a change, which was reverted: new.txt.\n'])
    expect(stdout).not.toMatch(/new\.txt|\.tmp/)
    expect((await here.run(['tools', 'call', 'list_dir'])).stderr).toBe('')
  })
})

describe('diff', () => {
  it('is one that git takes', async () => {
    using here = place({ 'a.txt': 'one\ntwo\n', 'gone.txt': 'gone\n', 'run.sh': 'exit\n' })
    chmodSync(join(here.dir, 'run.sh'), 0o755)
    await using model = await scriptedModel([
      call('edit_file', edit('a.txt', 'two', 'three')),
      call('delete_file', { path: 'gone.txt' }),
      call('move_file', { path: 'run.sh', to: 'bin/run.sh' }),
      call('edit_file', edit('bin/run.sh', 'exit', 'exit 1')),
      call('write_file', { path: 'new.txt', content: 'new\n' }),
      say('Done.'),
    ])
    await here.run(['change it', '--yes', ...using(model)])
    const { stdout, code } = await here.run(['diff'])
    expect(code).toBe(0)
    expect(stdout).toContain('--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n')
    const { stdout: stat } = await here.run(['diff', '--stat'])
    expect(stat.trimEnd().split('\n')).toEqual([
      'changed  +1 -1  a.txt',
      'deleted  +0 -1  gone.txt',
      'created  +0 -0  bin',
      'moved    +1 -1  run.sh → bin/run.sh',
      'created  +1 -0  new.txt',
    ])
    const applied = spawnSync('git', ['apply', '-R', '-'], { cwd: here.dir, input: stdout, encoding: 'utf8' })
    expect([applied.status, applied.stderr]).toEqual([0, ''])
    expect([text(here, 'a.txt'), text(here, 'gone.txt'), text(here, 'run.sh')]).toEqual(['one\ntwo\n', 'gone\n', 'exit\n'])
    expect(here.has('new.txt')).toBe(false)
  })

  it('is one that git takes with a byte order mark; UTF-16 and what is not UTF-8 is only named', async () => {
    using here = place({ 'bom.txt': '\ufeffone\ntwo\n' })
    await change(here, 'edit_file', edit('bom.txt', 'one', 'three'))
    const { stdout } = await here.run(['diff'])
    const applied = spawnSync('git', ['apply', '-R', '-'], { cwd: here.dir, input: stdout, encoding: 'utf8' })
    expect([applied.status, applied.stderr, text(here, 'bom.txt')]).toEqual([0, '', '\ufeffone\ntwo\n'])
    for (const [name, bytes] of [
      ['wide.txt', Buffer.from('\ufeffone\n', 'utf16le')],
      ['latin.txt', Buffer.from('é'.repeat(20), 'latin1')],
    ] as const) {
      writeFileSync(join(here.dir, name), bytes)
      await change(here, 'delete_file', { path: name })
      expect((await here.run(['diff'])).stdout).toContain(`Binary files a/${name} and /dev/null differ\n`)
    }
  })

  it('names what is binary, and what is not kept any more; has no colours in a pipe', async () => {
    using here = place({ 'data.bin': 'a\0b', 'a.txt': '1\n' })
    await change(here, 'delete_file', { path: 'data.bin' })
    expect((await here.run(['diff'])).stdout).toBe(
      'diff --git a/data.bin b/data.bin\ndeleted file mode 100644\nBinary files a/data.bin and /dev/null differ\n',
    )
    await change(here, 'delete_file', { path: 'a.txt' })
    const blobs = join(only(join(here.data, 'changes')), 'blobs')
    for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), 'damaged')
    const { stdout } = await here.run(['diff', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ undone: false, files: [{ kind: 'deleted', path: 'a.txt', unshown: 'lost' }] })
    expect((await here.run(['diff'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[')
    expect((await here.run(['diff'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain('\u001b[')
  })

  it('of a turn that does not exist', async () => {
    using here = place()
    mkdirSync(join(here.dir, 'x'))
    expect(await here.run(['diff'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no turn that changed anything') })
  })
})
