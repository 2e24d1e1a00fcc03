import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type CallRecord, notOk, ok } from '@mulligan/core'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentEvent } from '../events.ts'
import type { AssistantMessage } from '../history/message.ts'
import { DIALECTS, stopPostgres } from './dialects.fixture.ts'
import { memoryStore } from './memory.ts'
import { openStore } from './open.ts'
import { repairStore } from './repair.ts'
import { statementsFor } from './schema.ts'
import type { SessionFilter, Store } from './store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-store-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(stopPostgres)

const message: AssistantMessage = {
  role: 'assistant',
  id: 's/1/1',
  turnId: 's/1',
  step: 1,
  parts: [
    { type: 'text', text: 'Let me see.' },
    { type: 'call', callId: 's/1/1/0', wireId: 'w', name: 'search', input: '{}' },
  ],
  model: 'p/m',
  finishReason: 'tool-calls',
  usage: { inputTokens: 1, outputTokens: 2 },
}
const record: CallRecord = {
  id: 's/1/1/0',
  step: 1,
  ordinal: 0,
  wireId: 'w',
  tool: 'search',
  input: { a: [1] },
  effect: 'read',
  target: 't',
  attempts: 1,
  repairs: [],
  result: ok(['x'], { count: 1 }),
  durationMs: 1.5,
}
const place = { sessionId: 's', turnId: 's/1', at: 5 }
const events: AgentEvent[] = [
  { id: 1, ...place, type: 'session.created', cwd: '/w' },
  { id: 2, ...place, type: 'message.completed', messageId: 's/1/1', step: 1, message },
  {
    id: 3,
    ...place,
    type: 'tool.result',
    callId: 's/1/1/0',
    step: 1,
    tool: 'search',
    effect: 'read',
    inputKey: '{}',
    result: record.result,
    attempts: 1,
    durationMs: 1,
  },
  {
    id: 4,
    ...place,
    type: 'tool.result',
    callId: 's/1/1/0',
    step: 1,
    tool: 'search',
    effect: 'read',
    inputKey: '{}',
    result: notOk('timeout', 'late'),
    attempts: 1,
    durationMs: 1,
    late: true,
  },
]
/** Returns the SQL that turns a new store into one of an older version, with the conversation that {@link fill} creates. */
function olderStore(version: number, database: 'sqlite' | 'postgres' = 'sqlite'): string {
  const { id, step, ordinal, wireId, tool, input, effect, target, attempts, repairs, result, durationMs } = record
  const call = [id, 's', 's/1', step, ordinal, wireId, tool, null, effect, target, JSON.stringify(input), attempts]
  const user = { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' }
  const rows: readonly (readonly [string, readonly unknown[]])[] = [
    ['sessions (id, cwd, title, created_at, updated_at, lease_until)', ['s', '/w', 'go', 1, 1, 0]],
    ['turns (id, session_id, prompt, model, status, started_at)', ['s/1', 's', 'go', 'p/m', 'running', 1]],
    ['messages', [1, user.id, 's', 's/1', 0, 'user', JSON.stringify(user), 1]],
    ['messages', [2, message.id, 's', 's/1', 1, 'assistant', JSON.stringify(message), 1]],
    ['calls', [...call, JSON.stringify(repairs), JSON.stringify(result), durationMs, 1]],
    ...events.map(({ id, sessionId, turnId, at, type, ...payload }): [string, unknown[]] => {
      const named = { ...payload, message: undefined, ...(id === 3 && { result: undefined }) }
      return ['events', [sessionId, id, turnId, type, JSON.stringify(named), at]]
    }),
    ['steps', ['s/1', 'a', '{"answer":"once"}']],
  ]
  const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))
  const inserts = rows.map(([table, values]) => `INSERT INTO ${table} VALUES (${values.map(literal).join(', ')})`)
  const tables = (from: number, to: number): readonly string[] => statementsFor(database, from, to)
  const upTo = Math.min(version, 2)
  const older = ['approvals', 'requests', 'log', 'turns', 'sessions', 'search_words', 'search_due'].map(
    (table) => `DROP TABLE IF EXISTS ${table}`,
  )
  return [...older, ...tables(0, upTo), ...inserts, ...tables(upTo, version)].join(';\n')
}

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

async function fill(store: Store): Promise<void> {
  await store.createSession({ id: 's', cwd: '/w', title: 'go' })
  await store.startTurn({ id: 's/1', sessionId: 's', prompt: 'go', model: 'p/m' }, { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' })
  await store.saveMessage('s', message)
  await store.saveCall('s', 's/1', record)
  await store.saveCall('s', 's/1', record)
  await store.append(events, true)
}

describe.each([
  { name: 'memory', open: async () => memoryStore() },
  { name: 'memory with a strict journal', open: async () => memoryStore({ strict: true }) },
  ...DIALECTS.map(({ name, place }) => ({ name, open: async () => openStore(await place(folder)) })),
])('$name', ({ open }) => {
  it('keeps sessions, the conversation and the events, in order', async () => {
    const store = await open()
    await fill(store)
    expect(await store.session('s')).toMatchObject({ cwd: '/w', title: 'go', turns: 1 })
    expect(await store.session('other')).toBeUndefined()
    expect(plain(await store.history('s'))).toEqual(
      plain([
        { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' },
        message,
        { role: 'results', turnId: 's/1', step: 1, records: [record] },
      ]),
    )
    expect(plain(await store.events({ sessionId: 's' }))).toEqual(plain(events))
    expect((await store.events({ sessionId: 's', after: 3 })).map(({ id }) => id)).toEqual([4])
    expect(await store.lastEventId('s')).toBe(4)
    expect(await store.lastTurn('s')).toMatchObject({ id: 's/1', status: 'running' })
    expect(await store.sessions({ cwd: '/elsewhere' })).toEqual([])
    expect((await store.sessions({ cwd: '/w' })).map(({ id }) => id)).toEqual(['s'])
    await store.close()
  })

  it('filters sessions, and deletes one with all that is of it, unless a turn of it runs', async () => {
    const store = await open()
    await fill(store)
    await (await store.journal('s/1')).step('a', async () => 1)
    await store.createSession({ id: 't%', cwd: '/w', title: 'other' })
    const ids = async (filter: SessionFilter) => (await store.sessions(filter)).map(({ id }) => id)
    expect([await ids({ idPrefix: 't%' }), await ids({ idPrefix: '%' }), await ids({ idPrefix: 's', cwd: '/x' })]).toEqual([['t%'], [], []])
    expect([await ids({ before: 1 }), (await ids({ before: Date.now() + 1000 })).sort()]).toEqual([[], ['s', 't%']])

    const claim = await store.claim('s')
    expect(await store.deleteSession('s')).toMatchObject({ busy: expect.any(String) })
    expect(await store.history('s')).toHaveLength(3)
    if ('release' in claim) await claim.release()
    expect([await store.deleteSession('s'), await store.deleteSession('s')]).toEqual([{}, {}])
    expect([await store.session('s'), await ids({})]).toEqual([undefined, ['t%']])

    await fill(store)
    expect(await store.history('s')).toHaveLength(3)
    expect(await (await store.journal('s/1')).step('a', async () => 2)).toBe(2)
    await store.close()
  })

  it('finds sessions by words of their titles, prompts and answers, and renames them', async () => {
    const store = await open()
    const said = [
      ['a', 'Fix the 100% budget_plan', 'The total is 40,000.'],
      ['b', 'Write a poem', 'Roses are red. MÜLL!'],
      ['c', '今年の予算', 'It is in (src/store/search.ts).'],
    ] as const
    for (const [id, prompt, answer] of said) {
      await store.createSession({ id, cwd: '/w', title: prompt })
      const turn = { id: `${id}/1`, sessionId: id, prompt, model: 'p/m' }
      await store.startTurn(turn, { role: 'user', id: `${id}/1/0`, turnId: `${id}/1`, text: prompt })
      const ledger = { changed: [], failed: [], unknown: [] }
      await store.endTurn({ sessionId: id, turnId: `${id}/1`, status: 'answered', answer, requests: 1, usage: message.usage, ledger })
    }
    const found = async (search: string) => (await store.sessions({ search })).map(({ id }) => id).sort()
    const each: readonly (readonly [string, readonly string[]])[] = [
      ['', ['a', 'b', 'c']],
      ['BUDGET total', ['a']],
      ['poem budget', []],
      ['  roses ', ['b']],
      // The last word may be unfinished, the others not.
      ['total budg', ['a']],
      ['budg total', []],
      ['udget', []],
      // Its parts follow one another.
      ['100% 40,000', ['a']],
      ['budget_pl', ['a']],
      ['plan_budget', []],
      ['000.40', []],
      ['src/store', ['c']],
      ['40 src', []],
      // What no index has as a word.
      ["!'", []],
      ['9%', []],
      ['%', ['a']],
      ['の予', ['c']],
      ['MÜLL', ['b']],
      ['"roses OR poem', []],
    ]
    for (const [search, ids] of each) expect([search, await found(search)]).toEqual([search, ids])
    await store.updateSession('b', { title: "Ann's verses" })
    await store.updateSession('none', { title: 'x' })
    expect([(await store.session('b'))?.title, await found("ann's"), await store.session('none')]).toEqual([
      "Ann's verses",
      ['b'],
      undefined,
    ])
    await store.close()
  })

  it('copies turns to a new session with ids of its own, and keeps its rewinds', async () => {
    const store = await open()
    const [from, to] = ['20261123-2300-aaaaaa', '20261123-2301-bbbbbb']
    const renamed = <T>(value: T, id: string): T =>
      JSON.parse(JSON.stringify(value).replaceAll('"s/', `"${id}/`).replaceAll('"s"', `"${id}"`)) as T
    const user = (turn: number) => ({ role: 'user' as const, id: `${from}/${turn}/0`, turnId: `${from}/${turn}`, text: `go ${turn}` })
    await store.createSession({ id: from, cwd: '/w', title: 'go' })
    for (const turn of [1, 2]) await store.startTurn({ id: `${from}/${turn}`, sessionId: from, prompt: 'go', model: 'p/m' }, user(turn))
    await store.saveMessage(from, renamed(message, from))
    await store.saveCall(from, `${from}/1`, renamed(record, from))
    await store.append(renamed(events, from), true)
    const outcome = { sessionId: from, turnId: `${from}/1`, status: 'answered' as const, answer: 'Done.', requests: 1 }
    await store.endTurn({ ...outcome, usage: message.usage, ledger: { changed: [], failed: [], unknown: [] } })
    const rewound = { type: 'session.rewound' as const, from: `${from}/2`, scope: 'both' as const, undo: [] }
    await store.append([{ ...rewound, id: 9, sessionId: from, turnId: `${from}/2`, at: 6 }], true)

    await store.branch(from, { id: to, turns: [`${from}/1`] })
    expect(await store.session(to)).toMatchObject({ id: to, cwd: '/w', title: 'go', turns: 1 })
    expect(await store.lastTurn(to)).toMatchObject({ id: `${to}/1`, sessionId: to, status: 'answered' })
    const copied = [await store.history(to), await store.events({ sessionId: to })]
    expect(plain(copied[0])).toEqual(
      plain([
        { ...user(1), id: `${to}/1/0`, turnId: `${to}/1` },
        ...renamed([message, { role: 'results', turnId: 's/1', step: 1, records: [record] }], to),
      ]),
    )
    expect(plain(copied[1])).toEqual(plain(renamed(events, to)))
    expect([await store.rewinds(to), await store.lastEventId(to)]).toEqual([[], 4])
    expect(await store.rewinds(from)).toMatchObject([{ id: 9, from: `${from}/2` }])
    // The copy does not depend on the original.
    await store.deleteSession(from)
    expect(await store.history(to)).toHaveLength(3)
    await store.close()
  })

  it('a finished step is not run again', async () => {
    const store = await open()
    await fill(store)
    let ran = 0
    const once = async () => ++ran
    const again = async () => {
      const journal = await store.journal('s/1')
      expect(await journal.step('a', once)).toBe(1)
      return journal
    }
    await again()
    await expect((await again()).step('b', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await (await again()).step('b', once)).toBe(2)
    await store.close()
  })
})

describe.each(DIALECTS)('a session in $name is taken by one at a time', ({ place: newPlace, change, host }) => {
  it('in one process, in two stores of one place, and until it is released', async () => {
    const path = await newPlace(folder)
    const [first, second] = [await openStore(path), await openStore(path)]
    await first.createSession({ id: 's', cwd: '/w', title: 'go' })
    const claim = await first.claim('s')
    expect(claim).toHaveProperty('release')
    expect(await first.claim('s')).toMatchObject({ busy: expect.stringContaining(String(process.pid)) })
    expect(await second.claim('s')).toHaveProperty('busy')
    if ('release' in claim) await claim.release()
    expect(await second.claim('s')).toHaveProperty('release')
    await first.close()
    await second.close()
  })

  it.each([
    ['a process of this machine that is gone', () => `4194303@${host}#x`, 60_000, 'release'],
    ['one that is alive', () => `${process.ppid}@${host}#x`, 60_000, 'busy'],
    ['a number that is used again, whose lease is over', () => `${process.ppid}@${host}#x`, -1, 'release'],
    ['another machine', () => '1@elsewhere#x', 60_000, 'busy'],
    ['another machine whose lease is over', () => '1@elsewhere#x', -1, 'release'],
  ])('of %s', async (_, owner, lease, comes) => {
    const path = await newPlace(folder)
    const store = await openStore(path)
    await store.createSession({ id: 's', cwd: '/w', title: 'go' })
    await store.session('s')
    await change(path, `UPDATE sessions SET owner = '${owner()}', lease_until = ${Date.now() + lease}`)
    expect(await store.claim('s')).toHaveProperty(comes)
    await store.close()
  })
})

describe.each(DIALECTS)('the database of $name', ({ name, place: newPlace, change, setVersion }) => {
  it('orders turns as they came, though a clock went back', async () => {
    const store = await openStore(await newPlace(folder))
    await store.createSession({ id: 's', cwd: '/w', title: 'go' })
    const start = (n: number) =>
      store.startTurn(
        { id: `s/${n}`, sessionId: 's', prompt: 'go', model: 'p/m' },
        { role: 'user', id: `s/${n}/0`, turnId: `s/${n}`, text: 'go' },
      )
    await start(1)
    const clock = vi.spyOn(Date, 'now').mockReturnValue(1000)
    await start(2)
    clock.mockRestore()
    expect((await store.lastTurn('s'))?.id).toBe('s/2')
    await expect(start(2)).rejects.toThrow(/unique/i)
    await store.close()
  })

  it('one row that can’t be written does not take the others with it', async () => {
    const store = await openStore(await newPlace(folder))
    await fill(store)
    await store.append([{ id: 5, ...place, type: 'error', message: 'x' }], false)
    const again = store.startTurn(
      { id: 's/1', sessionId: 's', prompt: 'go', model: 'p/m' },
      { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' },
    )
    await expect(again).rejects.toThrow(/unique/i)
    expect(await store.lastEventId('s')).toBe(5)
    await expect(store.append([{ id: 5, ...place, type: 'error', message: 'of another' }], true)).rejects.toThrow(/is in the store/)
    expect((await store.events({ sessionId: 's', after: 4 })).map((event) => 'message' in event && event.message)).toEqual(['x'])
    await store.close()
  })

  it('what is damaged costs itself, and not the session', async () => {
    const path = await newPlace(folder)
    const store = await openStore(path)
    await fill(store)
    const step = async () => (await store.journal('s/1')).step('a', async () => 1)
    await step()
    await store.session('s')
    const damages = ['"role":"user","text"', '"wireId":"w","input"', '{"cwd"', 'step\ta\t1'].map(
      (text) => `body = replace(body, '${text}', '${text.replace(/["1]/, '')}')`,
    )
    for (const one of damages) await change(path, `UPDATE log SET ${one}`)
    expect(await store.history('s')).toMatchObject([
      { role: 'user', id: 's/1/0', text: expect.stringContaining('damaged') },
      message,
      { role: 'results', records: [{ tool: 'search', effect: 'read', step: 1, result: { ok: false, errorType: 'internal' } }] },
    ])
    expect((await store.events({ sessionId: 's' })).map(({ id }) => id)).toEqual([2, 3, 4])
    const again = await openStore(path)
    expect(await (await again.journal('s/1')).step('a', async () => 2)).toBe(2)
    await Promise.all([store.close(), again.close()])
  })

  it('keeps the events of a step once; where one of them is damaged, the step is taken again', async () => {
    const path = await newPlace(folder)
    const store = await openStore(path)
    await fill(store)
    const journal = await store.journal('s/1')
    const start = (attempt: number) =>
      ({ type: 'tool.started', callId: 's/1/1/0', tool: 'search', effect: 'read', inputHash: 'x', attempt }) as const
    await store.append([{ id: 5, ...place, ...start(1) }], true)
    await store.append([{ id: 6, ...place, ...start(2) }], false)
    const done = { kind: 'ready', events: [start(1), start(2)] }
    await journal.step('execute 1/0', async () => done)
    const again = async () => (await store.journal('s/1')).step('execute 1/0', async () => 'again')
    expect(await again()).toEqual(done)
    await change(path, `UPDATE log SET body = replace(body, 'event\t5\t{', 'event\t5\t')`)
    expect(await again()).toEqual(done)
    await change(path, `UPDATE log SET body = replace(body, 'event\t6\t{', 'event\t6\t')`)
    expect(await again()).toBe('again')
    await store.close()
  })

  it('of a newer version is refused with what to do, and left as it is', async () => {
    const path = await newPlace(folder)
    await (await openStore(path)).close()
    await change(path, setVersion(99))
    await expect(openStore(path)).rejects.toThrow(/newer Mulligan.*Update/)
  })

  it.each([1, 2, 3, 4, 5])('of version %i is brought up to date', async (version) => {
    const path = await newPlace(folder)
    await (await openStore(path)).close()
    await change(path, `${olderStore(version, name === 'SQLite' ? 'sqlite' : 'postgres')}; ${setVersion(version)}`)
    const store = await openStore(path)
    expect(await store.history('s')).toEqual([
      { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' },
      message,
      { role: 'results', turnId: 's/1', step: 1, records: [record] },
    ])
    expect(await store.events({ sessionId: 's' })).toEqual(plain(events))
    expect([await store.lastEventId('s'), await store.compaction('s')]).toEqual([4, undefined])
    expect(await (await store.journal('s/1')).step('a', async () => 2)).toEqual({ answer: 'once' })
    expect(await store.claim('s')).toHaveProperty('release')
    await store.append([{ id: 5, ...place, type: 'warning', message: 'new' }], true)
    expect((await store.events({ sessionId: 's' })).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
    await store.close()
  })

  it('stores what a call, its events and its step have in common once, and returns them whole', async () => {
    const path = await newPlace(folder)
    const store = await openStore(path)
    await fill(store)
    const id = 's/1/2/0'
    const shared = { step: 2, tool: 'search', effect: 'read', input: { b: 1, a: [1] } } as const
    const call = { type: 'tool.call', callId: id, ordinal: 0, ...shared } as const
    const { input, ...rest } = shared
    const result = {
      type: 'tool.result',
      callId: id,
      ...rest,
      inputKey: '{"a":[1],"b":1}',
      result: ok('x'),
      attempts: 1,
      durationMs: 2,
    } as const
    const journal = await store.journal('s/1')
    await store.append([{ id: 5, ...place, ...call }], false)
    const ready = { kind: 'ready', call: { id, ordinal: 0, ...shared, target: 't' }, events: [call] }
    await journal.step('prepare 2/0', async () => ready)
    const saved = store.saveCall('s', 's/1', { ...record, id, ...shared, durationMs: 2, result: result.result })
    await Promise.all([saved, store.append([{ id: 6, ...place, ...result }], false)])
    const { result: _, inputKey: __, ...slim } = result
    await journal.step('execute 2/0', async () => ({ kind: 'result', record: { id }, events: [slim] }))
    expect(await store.events({ sessionId: 's', after: 4 })).toEqual([
      { id: 5, ...place, ...call },
      { id: 6, ...place, ...result },
    ])
    const kept = (await store.history('s')).filter(({ role }) => role === 'results')
    const again = await store.journal('s/1', [{ role: 'results', turnId: 's/1', step: 2, records: [{ ...record, id, ...shared }] }])
    expect(await again.step('prepare 2/0', async () => 'again')).toEqual(ready)
    expect(await again.step('execute 2/0', async () => 'again')).toMatchObject({ kind: 'result', record: { id, input }, events: [slim] })
    expect(kept).toHaveLength(1)
    await store.close()
    const rows = name === 'SQLite' ? readFileSync(path, 'latin1') : ''
    expect(rows.split('"durationMs":2').length - 1).toBe(name === 'SQLite' ? 1 : 0)
  })

  it('refuses rows of a session that is not there', async () => {
    const store = await openStore(await newPlace(folder))
    const lost = store.append([{ id: 1, ...place, type: 'warning', message: 'x' }], true)
    await expect(lost).rejects.toThrow('there is no session s')
    await store.createSession({ id: 'other', cwd: '/w', title: 'go' })
    await store.append([{ id: 1, sessionId: 'other', turnId: 'other/1', at: 5, type: 'warning', message: 'x' }], true)
    expect(await store.lastEventId('other')).toBe(1)
    await store.close()
  })

  it('keeps any text, also what a database has no character for', async () => {
    const path = await newPlace(folder)
    const store = await openStore(path)
    await fill(store)
    const odd = 'a\0b \ud800 😀'
    await store.saveCall('s', 's/1', { ...record, id: 's/1/1/1', ordinal: 1, target: odd, result: ok(odd) })
    const text = { ...message, id: 's/1/2', step: 2, parts: [{ type: 'text', text: odd } as const] }
    await store.saveMessage('s', text)
    await store.close()
    const again = await openStore(path)
    expect((await again.history('s')).at(-1)).toMatchObject({ parts: [{ text: odd }] })
    expect((await again.history('s'))[1]).toMatchObject({ id: 's/1/1' })
    await again.close()
  })

  it('is made by one of those that open it at once', async () => {
    const path = await newPlace(folder)
    const stores = await Promise.all([openStore(path), openStore(path), openStore(path)])
    await fill(stores[0])
    expect(await stores[2].history('s')).toHaveLength(3)
    await Promise.all(stores.map((store) => store.close()))
  })
})

const COMPACTED = {
  type: 'context.compacted',
  step: 1,
  why: 'full',
  contextTokens: 8000,
  before: 9000,
  after: 4000,
  calls: 3,
  covers: 's/2/1',
  digest: 'later',
} as const

describe('the SQLite file', () => {
  it('of which pages are damaged is repaired: what can be read is there again, and the damaged file is kept', async () => {
    const path = join(folder, 'store.db')
    const store = await openStore(path)
    for (const id of ['a', 's', 'z']) await store.createSession({ id, cwd: '/w', title: id })
    await store.startTurn(
      { id: 's/1', sessionId: 's', prompt: 'go', model: 'p/m' },
      { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' },
    )
    for (let n = 1; n <= 400; n++)
      await store.saveCall('s', 's/1', { ...record, id: `s/1/${n}/0`, step: n, input: 'x'.repeat(2000) }).then(() => store.session('s'))
    await store.close()
    const before = new DatabaseSync(path)
    const { page } = before.prepare("SELECT pageno AS page FROM dbstat WHERE name = 'log' ORDER BY pageno LIMIT 1 OFFSET 100").get() as {
      page: number
    }
    before.close()
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096)
    await file.close()
    const damaged = await openStore(path)
    await expect(damaged.history('s')).rejects.toThrow(/malformed/)
    await damaged.close()

    const { saved, damaged: of, kept } = await repairStore(path)
    expect([saved.sessions, saved.turns, of]).toEqual([3, 1, ['log']])
    expect(saved.log).toBeGreaterThan(390)
    expect(saved.log).toBeLessThan(401)
    expect(existsSync(kept ?? '')).toBe(true)
    const again = await openStore(path)
    expect(await again.history('s')).toMatchObject([{ role: 'user', id: 's/1/0' }])
    expect(await again.claim('s')).toHaveProperty('release')
    await again.close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it.each([1, 2, 3, 4, 5])('of version %i is repaired too', async (version) => {
    const path = join(folder, 'store.db')
    await (await openStore(path)).close()
    const older = new DatabaseSync(path)
    older.exec(`${olderStore(version)}; PRAGMA user_version = ${version}`)
    older.close()
    copyFileSync(path, `${path}.backup`)
    expect(await repairStore(path)).toMatchObject({ saved: { sessions: 1, turns: 1, log: 8 }, restored: { log: 0 }, damaged: [] })
    const store = await openStore(path)
    expect(await store.history('s')).toHaveLength(3)
    expect(await store.events({ sessionId: 's' })).toEqual(plain(events))
    await store.close()
  })

  it('that is not a database is not repaired, and left as it is', async () => {
    const path = join(folder, 'store.db')
    writeFileSync(path, 'no database at all '.repeat(100))
    await expect(repairStore(path)).rejects.toThrow(/not a database/)
    await expect(repairStore(join(folder, 'none.db'))).rejects.toThrow(/there is no store/)
    expect(readdirSync(folder)).toEqual(['store.db'])
  })

  it('is private, and is all there after it was closed', async () => {
    const path = join(folder, 'deep', 'store.db')
    const store = await openStore(path)
    await fill(store)
    for (const file of [path, `${path}-wal`]) if (existsSync(file)) expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700)
    await store.close()
    const again = await openStore(path)
    expect(await again.history('s')).toHaveLength(3)
    await again.close()
  })

  it('of a deleted session nothing is left in it', async () => {
    const path = join(folder, 'store.db')
    const store = await openStore(path)
    await fill(store)
    const text = 'unmistakable '.repeat(1000)
    await store.saveCall('s', 's/1', { ...record, id: 's/1/1/1', result: ok(text) })
    await store.deleteSession('s')
    await store.close()
    expect(readFileSync(path, 'latin1')).not.toContain('unmistakable')
  })

  it('keeps a large result once', async () => {
    const path = join(folder, 'store.db')
    const store = await openStore(path)
    await fill(store)
    const large = 'unmistakable '.repeat(10)
    const result = ok(large)
    await store.saveCall('s', 's/1', { ...record, id: 's/1/1/1', result })
    await store.append(
      [
        {
          id: 5,
          ...place,
          type: 'tool.result',
          callId: 's/1/1/1',
          step: 1,
          tool: 'search',
          effect: 'read',
          inputKey: '{}',
          result,
          attempts: 1,
          durationMs: 1,
        },
      ],
      true,
    )
    await store.close()
    expect(readFileSync(path, 'latin1').split(large).length - 1).toBe(1)
  })

  it('of the version before compactions were marked is brought up to date, and its latest compaction is found', async () => {
    const path = join(folder, 'v3.db')
    const database = new DatabaseSync(path)
    for (const statement of statementsFor('sqlite', 0, 3)) database.exec(statement)
    database.exec(`PRAGMA user_version = 3;
      INSERT INTO sessions (id, cwd, title, created_at, updated_at, lease_until) VALUES ('s', '/w', 'go', 1, 1, 0)`)
    const insert = database.prepare('INSERT INTO log (session_id, turn_id, event_id, body) VALUES (?, ?, ?, ?)')
    for (const id of [1, 2]) insert.run('s', 's/1', id, `event\t${id}\t{"covers":"s/1/${id}","digest":"d"}\tcontext.compacted\t5`)
    insert.run('s', 's/1', 3, `event\t3\t{"message":"context.compacted"}\twarning\t5`)
    database.close()
    const store = await openStore(path)
    expect(await store.compaction('s')).toMatchObject({ id: 2, turnId: 's/1', covers: 's/1/2', digest: 'd' })
    await store.append([{ id: 4, sessionId: 's', turnId: 's/2', at: 6, ...COMPACTED }], true)
    expect(await store.compaction('s')).toMatchObject({ id: 4, covers: 's/2/1' })
    await store.close()
  })

  it('that is none is refused', async () => {
    const { writeFileSync } = await import('node:fs')
    const path = join(folder, 'store.db')
    writeFileSync(path, 'this is no database at all, but a text of some length'.repeat(50))
    await expect(openStore(path)).rejects.toThrow(/not a database/)
  })
})
