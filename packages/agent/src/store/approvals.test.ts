/** Questions that wait, and keys of requests, on each database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DIALECTS, openOn, stopPostgres } from './dialects.fixture.ts'
import { memoryStore } from './memory.ts'
import { openStore } from './open.ts'
import type { ApprovalRow, Store } from './store.ts'

const PARKED = { callId: 's/1/1/0', kind: 'approval', hash: 'h', question: {}, sessionId: 's', turnId: 's/1', status: 'pending' } as const

/** Parks a turn of a server's session. */
async function parked(store: Store, ...rows: readonly Pick<ApprovalRow, 'id' | 'createdAt'>[]): Promise<void> {
  await store.createSession({ id: 's', cwd: '/', title: '', settings: {} })
  await store.startTurn({ id: 's/1', sessionId: 's', prompt: 'go', model: 'p/m' }, { role: 'user', id: 's/1/0', turnId: 's/1', text: 'go' })
  await store.park(
    's',
    's/1',
    rows.map((row) => ({ ...PARKED, ...row })),
  )
}

const FINGERPRINT = 'f'.repeat(64)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-approvals-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(stopPostgres)

const MEMORY = { name: 'memory', open: async () => memoryStore() }
const OPENED = DIALECTS.map(({ name, place }) => ({ name, open: async () => openStore(await place(folder)) }))

describe.each([MEMORY, ...OPENED])('in $name', ({ open }) => {
  it('a question that has expired can not be answered, and its turn can go on to ask it again', async () => {
    const store = await open()
    await parked(store, { id: 'old', createdAt: 1000 }, { id: 'new', createdAt: 2000 })
    expect(await store.resumableTurns()).toEqual([])
    await store.expire(2000)
    const statuses = async () => (await store.approvals({ turnId: 's/1' })).map(({ id, status }) => `${id} ${status}`)
    expect(await statuses()).toEqual(['old expired', 'new pending'])
    expect([await store.answer('old', { answer: 'once' }), await store.resumableTurns()]).toEqual([false, []])
    expect(await store.answer('new', { answer: 'once' })).toBe(true)
    await store.expire(3000)
    expect(await statuses()).toEqual(['old expired', 'new answered'])
    expect((await store.resumableTurns()).map(({ id, status }) => [id, status])).toEqual([['s/1', 'waiting']])
    await store.close()
  })

  it('a turn whose questions were lost can go on; one of a session without a server can not', async () => {
    const store = await open()
    await parked(store)
    expect(await store.resumableTurns()).toHaveLength(1)
    await store.createSession({ id: 't', cwd: '/', title: '' })
    const message = { role: 'user', id: 't/1/0', turnId: 't/1', text: 'go' } as const
    await store.startTurn({ id: 't/1', sessionId: 't', prompt: 'go', model: 'p/m' }, message)
    expect((await store.resumableTurns()).map(({ id }) => id)).toEqual(['s/1'])
    await store.close()
  })

  it('of many requests with one key at once, one is the first; the others see it run, and then its response', async () => {
    const store = await open()
    const all = await Promise.all(Array.from({ length: 10 }, () => store.reserve('k', FINGERPRINT)))
    expect(all.filter((one) => one === undefined)).toHaveLength(1)
    expect(all.filter((one) => one !== undefined)).toEqual(Array.from({ length: 9 }, () => ({ fingerprint: FINGERPRINT })))
    await store.respond('k', 'done')
    expect(await store.reserve('k', FINGERPRINT)).toEqual({ fingerprint: FINGERPRINT, response: 'done' })
    await store.respond('k', undefined)
    expect(await store.reserve('k', FINGERPRINT)).toBeUndefined()
    await store.close()
  })
})

describe.each(DIALECTS)('a request whose process has ended, in $name', ({ place, change, host }) => {
  /** Leaves the key of a request whose process is gone. */
  async function cutOff(owner: string, at = Date.now()): Promise<string> {
    const where = await place(folder)
    const store = await openStore(where)
    await store.reserve('k', FINGERPRINT)
    await store.close()
    await change(where, `UPDATE requests SET fingerprint = '${FINGERPRINT} ${owner}', at = ${at}`)
    return where
  }
  const GONE = 4_194_304

  it('is taken over by one of those that repeat it, and by none that asks something else', async () => {
    const where = await cutOff(`${GONE}.1@${host}#x`)
    const store = await openStore(where)
    expect(await store.reserve('k', 'other')).toEqual({ fingerprint: FINGERPRINT })
    const all = await Promise.all(Array.from({ length: 10 }, () => store.reserve('k', FINGERPRINT)))
    expect(all.filter((one) => one?.isCutOff)).toEqual([{ fingerprint: FINGERPRINT, isCutOff: true }])
    expect(all.filter((one) => !one?.isCutOff)).toHaveLength(9)
    await store.respond('k', 'done')
    expect(await store.reserve('k', FINGERPRINT)).toEqual({ fingerprint: FINGERPRINT, response: 'done' })
    await store.close()
  })

  it('control: of a process that is alive, it is not', async () => {
    const where = await place(folder)
    const [first, second] = [await openStore(where), await openOn(where, host)]
    expect([await first.reserve('k', FINGERPRINT), await second.reserve('k', FINGERPRINT)]).toEqual([
      undefined,
      { fingerprint: FINGERPRINT },
    ])
    await first.close()
    await second.close()
  })

  it('on another machine is taken over once it is not renewed', async () => {
    const where = await cutOff(`${GONE}.1@elsewhere#x`)
    const store = await openStore(where)
    expect(await store.reserve('k', FINGERPRINT)).toEqual({ fingerprint: FINGERPRINT })
    await change(where, 'UPDATE requests SET at = at - 31000')
    expect(await store.reserve('k', FINGERPRINT)).toEqual({ fingerprint: FINGERPRINT, isCutOff: true })
    await store.close()
  })
})
