import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStore, type Store } from '@mulligan/agent'
import { notOk, ok } from '@mulligan/core'
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { BIN, type CliFixture, place, trusted, using } from '../../../test/cli.fixture.ts'
import { inProcess } from '../../../test/in-process.fixture.ts'
import { hasTerminal } from '../../../test/terminal.fixture.ts'

const sessions = (here: CliFixture, ...args: string[]) => inProcess(here, ['sessions', ...args, '--cwd', here.dir])

/** Stores one turn, with control characters that would move a terminal's cursor. */
async function converse(store: Store, id: string, cwd: string, prompt = 'Find the budget.'): Promise<void> {
  const turnId = `${id}/1`
  const at = { sessionId: id, turnId, at: Date.UTC(2026, 10, 21, 12) }
  const parts = (n: number, name: string) => ({ type: 'call' as const, callId: `${turnId}/1/${n}`, wireId: `w${n}`, name, input: '{}' })
  const record = (n: number, tool: string, target: string) => ({
    id: `${turnId}/1/${n}`,
    ...{ step: 1, ordinal: n, tool, target, input: {}, effect: 'read' as const, attempts: 1, repairs: [], durationMs: 1 },
  })
  const usage = { inputTokens: 1, outputTokens: 2 }
  await store.createSession({ id, cwd, title: prompt })
  await store.startTurn({ id: turnId, sessionId: id, prompt, model: 'p/m' }, { role: 'user', id: `${turnId}/0`, turnId, text: prompt })
  const said = { role: 'assistant' as const, turnId, model: 'p/m', usage }
  await store.saveMessage(id, {
    ...said,
    ...{ id: `${turnId}/1`, step: 1, finishReason: 'tool-calls' },
    parts: [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Let me look.' }, parts(0, 'grep'), parts(1, 'read_file')],
  })
  await store.saveCall(id, turnId, { ...record(0, 'grep', 'budget'), result: ok(['x'], { count: 2 }) })
  await store.saveCall(id, turnId, { ...record(1, 'read_file', 'gone.md'), result: notOk('not_found', 'There is no file gone.md.') })
  const answer = 'It is \u001b[2J40,000.\nThe key is sk-very-secret.'
  await store.saveMessage(id, { ...said, id: `${turnId}/2`, step: 2, finishReason: 'stop', parts: [{ type: 'text', text: answer }] })
  const changed = [{ callId: `${turnId}/1/9`, tool: 'write_file', effect: 'write' as const, target: 'a.md' }]
  const outcome = {
    ...{ sessionId: id, turnId, status: 'answered' as const, answer, usage, requests: 2 },
    ledger: { changed, failed: [], unknown: [] },
  }
  await store.append(
    [
      { ...at, id: 1, type: 'session.created', cwd },
      { ...at, id: 2, type: 'turn.started', prompt, model: 'p/m', where: 'this machine', agent: 'plan', resumed: false },
      { ...at, id: 3, type: 'turn.ended', outcome },
    ],
    true,
  )
  await store.endTurn(outcome)
}

/** Creates a place with some sessions and their files outside the store. */
async function filled(...ids: string[]): Promise<CliFixture> {
  const here = place()
  const store = await openStore(join(here.data, 'mulligan.db'))
  for (const id of ids) {
    await converse(store, id, here.dir)
    mkdirSync(join(here.data, 'output', id), { recursive: true })
    mkdirSync(join(here.data, 'state'), { recursive: true })
    writeFileSync(join(here.data, 'output', id, 'long.txt'), 'x')
    writeFileSync(join(here.data, 'state', `${id}.json`), '{}')
  }
  await store.close()
  return here
}

it('the sessions of a folder, the latest first, or all', async () => {
  using none = place()
  expect(await sessions(none)).toMatchObject({ code: 0, stdout: 'There are no sessions in this folder yet.\n' })
  using here = await filled('one')
  const store = await openStore(join(here.data, 'mulligan.db'))
  await converse(store, 'two', '/elsewhere')
  await store.close()
  expect((await sessions(here)).stdout).toMatch(/^SESSION +WHEN +TURNS +PROMPT\none +\d{4}-\d\d-\d\d \d\d:\d\d +1 +Find the budget\.\n$/)
  const all = JSON.parse((await sessions(here, 'list', '--all', '--json')).stdout).sessions
  expect(all).toMatchObject([
    { id: 'two', cwd: '/elsewhere' },
    { id: 'one', cwd: here.dir, turns: 1, prompt: 'Find the budget.' },
  ])
  expect(await sessions(here, '--all', '--limit', '1')).toMatchObject({ stderr: expect.stringContaining('There are more') })
})

it('finds sessions by their words, and renames one', async () => {
  using here = await filled('one')
  const store = await openStore(join(here.data, 'mulligan.db'))
  await converse(store, 'two', here.dir, 'Write a poem.')
  await store.close()
  expect((await sessions(here, '--search', 'POEM')).stdout).toMatch(/PROMPT\ntwo +\S+ \S+ +1 +Write a poem\.\n$/)
  expect((await sessions(here, '--search', 'budget secr', '--json')).stdout).toContain('"id":"one"')
  expect((await sessions(here, '--search', 'key is')).stdout).toMatch(/Find the budget\.\n {4}It is 40,000\. The key is .*\n$/)
  expect((await sessions(here, '--search', 'neither')).stdout).toBe('No session has these words.\n')
  expect(await sessions(here, 'rename', 'tw', 'Verses', 'of\x1b[2J', 'May')).toMatchObject({
    code: 0,
    stdout: 'Session two is now "Verses of May".\n',
  })
  expect((await sessions(here, '--search', 'verses')).stdout).toContain('Verses of May')
  expect(await sessions(here, 'rename', 'two', ' ')).toMatchObject({ code: 2, stderr: expect.stringContaining('the new title is empty') })
  expect(await sessions(here, 'rename', 'none', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no session none'),
  })
})

it('one is continued, by the beginning of its id or as the latest', async () => {
  using here = await filled('one')
  await using model = await scriptedModel([say('There.')])
  const nothing = await here.run(['sessions', 'resume', ...using(model)])
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('there is nothing to resume')])
  const resumed = await here.run(['sessions', 'resume', 'on', 'More.', ...using(model)])
  expect([resumed.code, resumed.stdout]).toEqual([0, 'There.\n'])
  expect(JSON.parse((await sessions(here, '--json')).stdout).sessions).toMatchObject([{ id: 'one', turns: 2 }])
})

describe('the model of a session', () => {
  it('answers again without being named, at its server; another one can be named', async () => {
    using here = place()
    await using model = await scriptedModel([say('One.'), say('Two.')])
    await using other = await scriptedModel([say('Three.')])
    await here.run(['first', ...using(model)])
    expect(await here.run(['and?', '--last'])).toMatchObject({ code: 0, stdout: 'Two.\n' })
    expect(await here.run(['and?', '--last', ...using(other)])).toMatchObject({ code: 0, stdout: 'Three.\n' })
    model.push(say('Not asked.'))
    other.push(say('Four.'))
    expect(await here.run(['and?', '--last'])).toMatchObject({ code: 0, stdout: 'Four.\n' })
  })

  it('answers with an agent that is named, unless that has a model of its own', async () => {
    await using model = await scriptedModel([say('One.'), say('Two.')])
    await using other = await scriptedModel([say('Three.')], { models: ['other'] })
    using here = place()
    await here.run(['first', ...using(model)])
    expect(await here.run(['and?', '--last', '--agent', 'plan'])).toMatchObject({ code: 0, stdout: 'Two.\n' })
    const own = { agents: { own: { model: 'openai-compatible/other' } }, baseUrl: other.url }
    here.write('../.config/mulligan/config.json', JSON.stringify(own))
    expect(await here.run(['and?', '--last', '--agent', 'own'])).toMatchObject({ code: 0, stdout: 'Three.\n' })
  })

  it('is not remembered if a project chose it', async () => {
    await using model = await scriptedModel([say('One.')])
    using here = trusted(place({ 'mulligan.json': JSON.stringify({ model: 'scripted', baseUrl: model.url }) }))
    expect(await here.run(['first'])).toMatchObject({ code: 0, stdout: 'One.\n' })
    rmSync(join(here.dir, 'mulligan.json'))
    const { code, stderr } = await here.run(['and?', '--last'])
    expect(code, stderr).not.toBe(0)
    expect(model.requests).toHaveLength(1)
  })
})

describe('mulligan sessions show and export', () => {
  it('is the conversation to be read, fit for a terminal', async () => {
    using here = await filled('one')
    const { code, stdout } = await sessions(here, 'show', '--last')
    expect([code, stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'WHEN')]).toEqual([0, SHOWN])
  })

  it('as JSON has all of it, and a turn that did not end', async () => {
    using here = await filled('one')
    const store = await openStore(join(here.data, 'mulligan.db'))
    const turnId = 'one/2'
    await store.startTurn(
      { id: turnId, sessionId: 'one', prompt: 'On.', model: 'p/m' },
      { role: 'user', id: 'one/2/0', turnId, text: 'On.' },
    )
    const started = { prompt: 'On.', model: 'p/m', where: 'here', resumed: false, sessionId: 'one', turnId, at: 1 }
    await store.append([{ ...started, id: 4, type: 'turn.started' }], true)
    await store.close()
    const { turns } = JSON.parse((await sessions(here, 'show', 'one', '--json')).stdout)
    expect(turns).toMatchObject([
      { status: 'answered', steps: [{ type: 'text' }, { type: 'call', call: { tool: 'grep' } }, { type: 'call' }, { type: 'text' }] },
      { status: 'unfinished', prompt: 'On.', steps: [] },
    ])
    expect(JSON.stringify(turns)).not.toContain('Hm.')
  })

  it('an export is without the keys of the environment, in every format', async () => {
    using here = await filled('one')
    const file = join(here.dir, 'kept.md')
    const exported = (...args: string[]) =>
      inProcess(here, ['sessions', 'export', 'one', '--cwd', here.dir, ...args], { OPENAI_API_KEY: 'sk-very-secret' })
    expect((await sessions(here, 'export', 'one')).stdout).toContain('sk-very-secret')
    for (const format of ['md', 'json', 'jsonl']) {
      const { code, stdout } = await exported('--format', format)
      expect([code, stdout.includes('sk-very-secret'), stdout.includes('[secret]')]).toEqual([0, false, format !== 'jsonl' || true])
    }
    const lines = (await exported('--format', 'jsonl')).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['session.created', 'turn.started', 'turn.ended'])
    expect(await exported('-o', file)).toMatchObject({ code: 0, stdout: '' })
    expect(await exported('-o', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('add --force to overwrite it') })
    expect(await exported('-o', file, '--force')).toMatchObject({ code: 0 })
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([(await exported()).stdout, 0o600])
    expect(await exported('-o', join(here.dir, 'no/such/folder'))).toMatchObject({ code: 2, stderr: expect.stringContaining('ENOENT') })
  })
})

describe('a session is named', () => {
  it.each<[string[], string]>([
    [['show'], 'no session was named'],
    [['show', 'x'], 'there is no session x'],
    [['show', 'ab-eno'], 'did you mean ab-one?'],
    [['show', 'ab-'], '2 sessions begin with ab-'],
    [['show', 'ab-one', '--last'], 'a session was named together with --last'],
    [['delete'], 'no session was named'],
    [['delete', 'ab-one'], 'deleting this session needs confirmation'],
    [['delete', 'ab-one', 'ab-'], '2 sessions begin with ab-'],
    [['delete', '--all', '-y'], '--all needs --older-than'],
    [['delete', '--older-than', 'long'], 'a number of hours, days or weeks'],
    [['lst'], "unknown command 'lst'\nDid you mean list?"],
  ])('%j: %s', async (args, says) => {
    using here = await filled('ab-one', 'ab-two')
    expect(await sessions(here, ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
    expect(JSON.parse((await sessions(here, '--json')).stdout).sessions).toHaveLength(2)
  })

  it('by the beginning of its id', async () => {
    using here = await filled('ab-one', 'ab-two')
    expect((await sessions(here, 'show', 'ab-o')).stdout).toContain('- session ab-one\n')
  })
})

describe('mulligan sessions delete', () => {
  it('takes all that is kept of it, and nothing of another', async () => {
    using here = await filled('one', 'two')
    expect(await sessions(here, 'delete', 'one', '--yes')).toMatchObject({ code: 0, stdout: 'Deleted session one.\n' })
    const left = (id: string) => [join(here.data, 'output', id), join(here.data, 'state', `${id}.json`)].map((path) => existsSync(path))
    expect([left('one'), left('two')]).toEqual([
      [false, false],
      [true, true],
    ])
    expect((await sessions(here, 'show', 'one')).code).toBe(2)
    expect((await sessions(here, 'show', 'two')).code).toBe(0)
  })

  it('by age, here or everywhere', async () => {
    using here = await filled('one')
    const store = await openStore(join(here.data, 'mulligan.db'))
    await converse(store, 'far', '/elsewhere')
    await store.close()
    const none = await sessions(here, 'delete', '--older-than', '1h', '-y')
    expect([none.code, none.stdout]).toEqual([0, 'There is no session that old.\n'])
    const { stdout } = await sessions(here, 'delete', '--older-than', '0h', '--yes', '--json')
    expect(JSON.parse(stdout)).toEqual({ deleted: ['one'], busy: [] })
    expect((await sessions(here, 'delete', '--older-than', '0h', '--all', '--yes')).stdout).toBe('Deleted session far.\n')
  })

  it('leaves one that is in use, and says so', async () => {
    using here = await filled('one', 'two')
    const store = await openStore(join(here.data, 'mulligan.db'))
    const claim = await store.claim('one')
    const { code, stdout, stderr } = await sessions(here, 'delete', 'one', 'two', '--yes')
    expect([code, stdout, stderr]).toEqual([
      1,
      'Deleted session two.\n',
      expect.stringMatching(/^Not deleted: session one is in use by process \d+\.\n$/),
    ])
    if ('release' in claim) await claim.release()
    await store.close()
    expect(existsSync(join(here.data, 'output', 'one'))).toBe(true)
  })
})

it.skipIf(!hasTerminal)('in a terminal a person is asked, and a no deletes nothing', async () => {
  using here = await filled('one')
  const answered = async (answer: string) => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: here.dir,
      MULLIGAN_DATA_DIR: here.data,
      NO_COLOR: '1',
      TERM: 'xterm',
      SHELL: '/bin/sh',
    }
    const child = spawn('script', ['-qec', `'${process.execPath}' '${BIN}' sessions delete one`, '/dev/null'], { cwd: here.dir, env })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (said.includes('[y/N]')) return
      said += text
      if (said.includes('[y/N]')) child.stdin.write(answer)
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    return [code, said.includes('Delete this session for good?'), (await sessions(here, 'show', 'one')).code]
  }
  expect(await answered('\r')).toEqual([130, true, 0])
  expect(await answered('y\r')).toEqual([0, true, 2])
})

it('a damaged store says what to do, and is repaired', async () => {
  using here = place()
  const path = join(here.data, 'mulligan.db')
  const store = await openStore(path)
  await converse(store, 'one', here.dir)
  await store.close()
  const whole = readFileSync(path)
  const database = new DatabaseSync(path)
  const page = Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'").get()?.['rootpage'])
  database.close()
  writeFileSync(path, Buffer.concat([Buffer.from('x'.repeat(100)), whole.subarray(100)]))
  const refused = await sessions(here, 'list')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('mulligan sessions repair')])
  expect(await inProcess(here, ['sessions', 'repair'])).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be repaired") })

  // A damaged page behind an intact first one: named by the file too.
  writeFileSync(path, Buffer.from(whole).fill(0xff, (page - 1) * 4096, page * 4096))
  const late = await sessions(here, 'list')
  expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/mulligan\.db: .*malformed\n.*mulligan sessions repair/)])

  writeFileSync(path, whole)
  const { code, stdout } = await inProcess(here, ['sessions', 'repair'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Saved 1 session and \d+ turns?\. All of it could be read\.\n/)])
  expect((await sessions(here, 'list')).stdout).toContain('Find the budget.')
})

it('there is nothing to repair where there is no store, and a backup is enough', async () => {
  using here = place()
  expect(await inProcess(here, ['sessions', 'repair'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is nothing to repair'),
  })
  const path = join(here.data, 'mulligan.db')
  const store = await openStore(path)
  await converse(store, 'one', here.dir)
  await store.close()
  renameSync(path, `${path}.backup`)
  const lost = await sessions(here, 'list')
  expect(lost.stderr).toMatch(/lost its latest writes.*session one.*mulligan sessions repair/)
  rmSync(path)
  const { code, stdout } = await inProcess(here, ['sessions', 'repair'])
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Saved 1 session and .* The store was missing\. From the backup: \d+ rows\.\n$/),
  ])
  expect((await sessions(here, 'list')).stdout).toContain('Find the budget.')
})

it('the place of the store is a file or a PostgreSQL database, and what else it says is not shown', async () => {
  using here = place()
  const at = (store: string) => inProcess(here, ['sessions', 'list', '--cwd', here.dir], { MULLIGAN_STORE: store })
  const wrong = await at('postgre//ann:hunter22@db/x')
  expect([wrong.code, wrong.stderr.includes('hunter22')]).toEqual([2, false])
  expect(wrong.stderr).toContain('MULLIGAN_STORE is neither the path of a file nor the address')
  expect(await at(join(here.dir, 'own.db'))).toMatchObject({ code: 0 })
  expect(existsSync(join(here.dir, 'own.db'))).toBe(true)
})

it('a real session is shown with what its calls came to', async () => {
  using here = place({ 'a.md': 'x\n' })
  await using model = await scriptedModel([call('read_file', { file_path: 'a.md' }), say('It says x.')])
  await here.run(['What does a.md say?', ...using(model)])
  const { stdout } = await sessions(here, 'show', '--last')
  expect(stdout).toMatch(/> What does a\.md say\?\n\n- ✓ read_file a\.md \(1 repaired\)\n\nIt says x\.\n$/)
})

const SHOWN = `# Find the budget.

- session one
- folder ~/work
- begun WHEN, last turn WHEN, 1 turn
- 2 requests, 1 tokens in, 2 out

## Turn 1

WHEN · p/m on this machine · agent plan

> Find the budget.

Let me look.

- ✓ grep budget: 2 found
- ● read_file gone.md: retry not_found: There is no file gone.md.

It is 40,000.
The key is sk-very-secret.

- changed  write_file a.md
`
