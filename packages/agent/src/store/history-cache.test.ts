import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AssistantMessage } from '../history/message.ts'
import { DIALECTS, stopPostgres } from './dialects.fixture.ts'
import type { Driver } from './driver.ts'
import { createHistoryCache } from './history-cache.ts'
import { openStore } from './open.ts'
import { sqlStore } from './sql-store.ts'
import { openSqlite } from './sqlite.ts'
import type { Store } from './store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-histories-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(stopPostgres)

const said = (sessionId: string, step: number, text: string): AssistantMessage => ({
  ...{ role: 'assistant', id: `${sessionId}/1/${step}`, turnId: `${sessionId}/1`, step },
  parts: [{ type: 'text', text }],
  model: 'p/m',
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 2 },
})

async function start(store: Store, sessionId: string): Promise<void> {
  const turnId = `${sessionId}/1`
  await store.createSession({ id: sessionId, cwd: '/w', title: 't' })
  await store.startTurn(
    { id: turnId, sessionId, prompt: 'Hello.', model: 'p/m' },
    { role: 'user', id: `${turnId}/0`, turnId, text: 'Hello.' },
  )
}

const texts = async (store: Pick<Store, 'history'>, sessionId: string): Promise<readonly string[]> =>
  (await store.history(sessionId)).map((message) => (message.role === 'user' ? message.text : JSON.stringify(message)))

const USED = { contextUsed: 10, contextTokens: 100 }

describe.each(DIALECTS)('the history of a session in $name', ({ place }) => {
  it('contains what another process has added and changed since it was read, and nothing of a session that was deleted', async () => {
    const at = await place(folder)
    const [mine, theirs] = [await openStore(at), await openStore(at)]
    await start(mine, 's')
    await mine.saveMessage('s', said('s', 1, 'one'))
    expect(await texts(mine, 's')).toHaveLength(2)
    await theirs.saveMessage('s', said('s', 2, 'two'))
    await theirs.saveMessage('s', said('s', 1, 'another one'))
    expect(await mine.history('s')).toEqual(await (await openStore(at)).history('s'))
    expect(await texts(mine, 's')).toEqual(['Hello.', expect.stringContaining('another one'), expect.stringContaining('two')])
    await theirs.deleteSession('s')
    expect(await mine.history('s')).toEqual([])
    await start(theirs, 's')
    expect(await texts(mine, 's')).toEqual(['Hello.'])
    await Promise.all([mine.close(), theirs.close()])
  })
})

describe.each(DIALECTS)('the events after one, in $name', ({ place }) => {
  it('are those that all events end with, also where what they refer to was stored before', async () => {
    const at = await place(folder)
    const store = await openStore(at)
    await start(store, 's')
    for (let step = 1; step <= 8; step++) {
      const message = said('s', step, `reply ${step}`)
      const of = { sessionId: 's', turnId: 's/1', at: step }
      await store.saveMessage('s', message)
      await store.append([{ id: step * 3 - 2, ...of, type: 'message.completed', messageId: message.id, step, message }], step % 3 === 0)
      await store.append([{ id: step * 3 - 1, ...of, type: 'usage', step, usage: message.usage, ...USED }], false)
      await store.append([{ id: step * 3, ...of, type: 'warning', message: 'x' }], step % 2 === 0)
    }
    const all = await store.events({ sessionId: 's' })
    expect(all).toHaveLength(24)
    expect(all[0]).toMatchObject({ message: said('s', 1, 'reply 1') })
    const other = await openStore(at)
    for (let after = 0; after <= 25; after++)
      for (const one of [store, other]) expect(await one.events({ sessionId: 's', after })).toEqual(all.slice(after))
    expect(await store.events({ sessionId: 's', turnId: 's/2', after: 3 })).toEqual([])
    expect(await store.events({ sessionId: 'nothing', after: 3 })).toEqual([])
    await Promise.all([store.close(), other.close()])
  })
})

describe('reading a history again', () => {
  /** A driver that counts the rows it has read. */
  function counted(driver: Driver): { readonly driver: Driver; readonly rows: () => number } {
    let rows = 0
    const all: Driver['all'] = async (sql, ...parameters) => {
      const found = await driver.all<never>(sql, ...parameters)
      rows += found.length
      return found
    }
    return { driver: { ...driver, all }, rows: () => rows }
  }

  async function opened() {
    const { driver, rows } = counted(openSqlite(join(folder, 'store.db'), () => undefined))
    const store = sqlStore(driver)
    for (const id of ['s', 'r']) {
      await start(store, id)
      for (let step = 1; step <= 20; step++) await store.saveMessage(id, said(id, step, 'x'.repeat(100)))
    }
    return { driver, store, rows }
  }

  it('reads the new rows only', async () => {
    const { store, rows } = await opened()
    const first = await store.history('s')
    await store.saveMessage('s', said('s', 21, 'new'))
    const before = rows()
    const second = await store.history('s')
    expect(rows() - before).toBe(1)
    expect(second).toHaveLength(first.length + 1)
    expect(second[3]).toBe(first[3])
    await store.close()
  })

  it('reads the rows of new events only', async () => {
    const { store, rows } = await opened()
    const event = (id: number) => ({ id, sessionId: 's', turnId: 's/1', at: id, type: 'warning', message: 'x' }) as const
    for (let id = 1; id <= 20; id++) await store.append([event(id)], true)
    await store.history('s')
    const before = rows()
    expect(await store.events({ sessionId: 's', after: 18 })).toEqual([event(19), event(20)])
    // The two, and the one that says that the history has nothing new.
    expect(rows() - before).toBe(3)
    await store.close()
  })

  it('reads all of a session that was forgotten for others, and never forgets the one that is in use', async () => {
    const { driver, store, rows } = await opened()
    const { history } = createHistoryCache(driver, 1000)
    const all = await history('s')
    const read = async (id: string): Promise<number> => {
      const before = rows()
      expect(await history(id)).toHaveLength(21)
      return rows() - before
    }
    expect(all).toHaveLength(21)
    expect(await read('s')).toBe(1)
    expect(await read('r')).toBe(21)
    expect(await read('s')).toBe(21)
    await store.close()
  })

  it('gives two readers at once the same', async () => {
    const { driver, store } = await opened()
    const { history } = createHistoryCache(driver, 1000)
    const [one, two, other] = await Promise.all([history('s'), history('s'), history('r')])
    expect(one).toEqual(two)
    expect(other).toHaveLength(21)
    expect(await history('s')).toEqual(one)
    await store.close()
  })
})
