/** The search over sessions, on each store. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DIALECTS, stopPostgres } from './dialects.fixture.ts'
import { memoryStore } from './memory.ts'
import { openStore } from './open.ts'
import { SQLITE_FORGET } from './search-index.ts'
import { openDatabase } from './sqlite.ts'
import type { SessionFilter, Store } from './store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-search-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(stopPostgres)

/** Adds a turn. @param answer undefined: it has not ended */
async function say(store: Store, sessionId: string, turn: number, prompt: string, answer?: string): Promise<void> {
  const turnId = `${sessionId}/${turn}`
  await store.startTurn({ id: turnId, sessionId, prompt, model: 'p/m' }, { role: 'user', id: `${turnId}/0`, turnId, text: prompt })
  const rest = { requests: 1, usage: { inputTokens: 0, outputTokens: 0 }, ledger: { changed: [], failed: [], unknown: [] } }
  if (answer !== undefined) await store.endTurn({ sessionId, turnId, status: 'answered', answer, ...rest })
}

async function create(store: Store, id: string, title: string, ...turns: readonly (readonly [string, string?])[]): Promise<void> {
  await store.createSession({ id, cwd: '/w', title })
  for (const [at, [prompt, answer]] of turns.entries()) await say(store, id, at + 1, prompt, answer)
}

const ids = async (store: Store, filter: SessionFilter): Promise<readonly string[]> => (await store.sessions(filter)).map(({ id }) => id)

const STORES = [
  ['memory', async () => memoryStore()] as const,
  ...DIALECTS.map(({ name, place }) => [name, async () => openStore(await place(folder))] as const),
]

describe.each(STORES)('a search in %s', (_, open) => {
  it('puts sessions first that have all words in the title, then in one turn; the latest of them first', async () => {
    const store = await open()
    await create(store, 'turn', 'x', ['the annual budget', 'ok'])
    await create(store, 'title', 'Annual Budget', ['hello', 'ok'])
    await create(store, 'scattered', 'x', ['annual', 'ok'], ['budget', 'ok'])
    await create(store, 'both', 'annual', ['the budget', 'ok'])
    await create(store, 'none', 'budget', ['hello', 'ok'])
    await create(store, 'across', 'x', ['annual?', 'The budget.'])
    const search = 'annual budget'
    const found = await ids(store, { search })
    expect(found[0]).toBe('title')
    expect([found.slice(1, 3).sort(), found.slice(3).sort()]).toEqual([
      ['across', 'turn'],
      ['both', 'scattered'],
    ])
    const pages = [
      await ids(store, { search, limit: 2 }),
      await ids(store, { search, limit: 2, offset: 2 }),
      await ids(store, { search, offset: 4 }),
    ]
    expect(pages.flat()).toEqual(found)
    expect(await ids(store, { search, cwd: '/elsewhere' })).toEqual([])
    await store.close()
  })

  it('shows the words with what surrounds them', async () => {
    const store = await open()
    await create(
      store,
      'a',
      'A title',
      ['first the budget', 'ok'],
      ['no', `${'word '.repeat(40)}the total\nof the budget is ${'more '.repeat(40)}`],
    )
    const [found] = await store.sessions({ search: 'budget total' })
    expect(found?.snippet).toMatch(/^… (?:word )+the total of the budget is (?:more )+…$/)
    expect(found?.snippet?.length).toBeLessThan(170)
    expect([(await store.sessions({ search: 'title' }))[0]?.snippet, (await store.sessions())[0]?.snippet]).toEqual([undefined, undefined])
    await store.close()
  })

  it('follows a session: new turns, answers, titles, branches, and its end', async () => {
    const store = await open()
    const found = async (search: string) => (await ids(store, { search })).toSorted()
    await create(store, 'a', 'First', ['waiting prompt'])
    expect(await found('waiting')).toEqual(['a'])
    await say(store, 'a', 2, 'second', 'zebra')
    expect(await found('zebra')).toEqual(['a'])
    await store.branch('a', { id: 'b', turns: ['a/2'] })
    expect([await found('zebra'), await found('waiting')]).toEqual([['a', 'b'], ['a']])
    await store.updateSession('a', { title: 'Renamed' })
    expect([await found('renamed'), await found('first')]).toEqual([['a'], ['b']])
    await store.deleteSession('a')
    expect([await found('zebra'), await found('renamed'), await found('waiting')]).toEqual([['b'], [], []])
    await store.close()
  })

  it('takes texts of any size and any characters', async () => {
    const store = await open()
    const long = Array.from({ length: 200_000 }, (_, at) => `w${at}é\u{1f600}`).join(' ')
    await create(store, 'a', 'x', [`needle ${long}`, `${long}\0"'`])
    expect(await ids(store, { search: 'needle' })).toEqual(['a'])
    for (const search of ['\'"', '") OR text:x', 'a* NOT', "' & |", '\u{1f600}', '\\', ':*', 'NEAR(a b)', '-x', '\0'])
      await expect(store.sessions({ search })).resolves.toBeDefined()
    await store.close()
  })
})

describe('the index in SQLite', () => {
  const deleted = async (path: string): Promise<string> => {
    const store = await openStore(path)
    for (let turn = 0; turn < 40; turn++) await create(store, `kept-${turn}`, 'kept', [`some words ${turn}`, 'more words'])
    await create(store, 'gone', 'Xylotitle', ['Quuxprompt', 'Zygoanswer'])
    for (let turn = 0; turn < 40; turn++) await create(store, `later-${turn}`, 'kept', [`other words ${turn}`, 'more words'])
    expect(await ids(store, { search: 'quuxprompt' })).toEqual(['gone'])
    await store.deleteSession('gone')
    await store.close()
    return readFileSync(path, 'latin1')
  }
  // The index has words in lower case, without what they share with the one before.
  const TRACES = /xylotitle|quuxprompt|zygoanswer/i

  it('keeps no word of a deleted session', async () => {
    expect(await deleted(join(folder, 's.db'))).not.toMatch(TRACES)
  })

  it('the control: a deletion alone leaves the words', async () => {
    const path = join(folder, 's.db')
    const store = await openStore(path)
    await create(store, 'gone', 'Xylotitle', ['Quuxprompt', 'Zygoanswer'])
    expect(await ids(store, { search: 'quuxprompt' })).toEqual(['gone'])
    await store.close()
    const database = new DatabaseSync(path)
    database.exec('PRAGMA secure_delete = ON; DELETE FROM log; DELETE FROM turns; DELETE FROM sessions')
    expect(readFileSync(path, 'latin1') + readFileSync(`${path}-wal`, 'latin1')).toMatch(TRACES)
    for (const statement of SQLITE_FORGET) database.exec(statement)
    database.close()
    expect(readFileSync(path, 'latin1')).not.toMatch(TRACES)
  })

  it('of an older store is made by the first search', async () => {
    const path = join(folder, 's.db')
    const store = await openStore(path)
    for (let at = 0; at < 700; at++) await create(store, `other-${at}`, 'other', [`some words ${at}`, 'more words'])
    await create(store, 'a', 'Some title', ['a prompt', 'an answer'], ['unanswered'])
    await store.close()
    const database = new DatabaseSync(path)
    const triggers = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${String(name)}`)
    database.exec('DROP TABLE search_words; DROP TABLE search_due; PRAGMA user_version = 6')
    database.close()
    openDatabase(path).close()
    const again = await openStore(path)
    for (const search of ['title', 'prompt', 'answer', 'unanswered']) expect(await ids(again, { search })).toEqual(['a'])
    await again.close()
  })
})
