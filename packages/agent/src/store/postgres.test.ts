/** PostgreSQL failures: broken connections, a crashing server, and the messages the user gets. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentEvent } from '../events.ts'
import { POSTGRES, postgres, stopPostgres } from './dialects.fixture.ts'
import { openStore } from './open.ts'
import { hasPostgres, PASSWORD, type PostgresServer, proxyTo, runSql, startPostgres, type TcpProxy } from './postgres.fixture.ts'
import { SessionTakenOver, type Store } from './store.ts'

const event = (id: number): AgentEvent => ({ id, sessionId: 's', turnId: 's/1', at: 0, type: 'warning', message: `n${id}` })
const idsIn = async (store: Store): Promise<readonly (number | undefined)[]> => (await store.events({ sessionId: 's' })).map(({ id }) => id)

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  let proxy: TcpProxy
  let url: string
  beforeEach(async () => {
    const server = await postgres()
    proxy = await proxyTo(server.port)
    url = await server.database(proxy.port)
  })
  afterEach(() => proxy.close())
  afterAll(stopPostgres)

  async function filled(): Promise<Store> {
    const store = await openStore(url)
    await store.createSession({ id: 's', cwd: '/w', title: 'go' })
    await store.claim('s')
    await store.session('s')
    return store
  }

  it('goes on where connections that nobody used were lost', async () => {
    const store = await filled()
    await store.append([event(1)], true)
    proxy.cut()
    await store.append([event(2)], true)
    proxy.cut()
    expect(await idsIn(store)).toEqual([1, 2])
    await store.close()
  })

  it.each([
    ['before its commit is there', false],
    ['with the answer to its commit', true],
  ])('a write is made once, though the connection is lost %s', async (_, deliver) => {
    const store = await filled()
    proxy.cut({ matching: 'COMMIT', deliver })
    await store.append([event(1), event(2)], true)
    expect(await idsIn(store)).toEqual([1, 2])
    // Reading would hide that an event is stored twice.
    expect(await runSql('SELECT seq FROM mulligan.log', url)).toHaveLength(1)
    await store.close()
  })

  it('a connection that is lost within a claim gives the claim once, and later writes belong to it', async () => {
    const store = await openStore(url)
    await store.createSession({ id: 's', cwd: '/w', title: 'go' })
    await store.session('s')
    proxy.cut({ matching: 'RETURNING fence', deliver: true })
    expect(await store.claim('s')).toHaveProperty('release')
    await store.append([event(1)], true)
    await POSTGRES.change(url, 'UPDATE sessions SET fence = fence + 1')
    await expect(store.append([event(2)], true)).rejects.toThrow(SessionTakenOver)
    await store.close()
  })

  it('one session that was taken over does not stop the others of the process', async () => {
    const store = await filled()
    await store.createSession({ id: 'other', cwd: '/w', title: 'go' })
    await store.claim('other')
    await store.session('other')
    await POSTGRES.change(url, `UPDATE sessions SET fence = 9 WHERE id = 's'`)
    const [lost, kept] = await Promise.allSettled([
      store.append([event(1)], true),
      store.append([{ ...event(1), sessionId: 'other', turnId: 'other/1' }], true),
    ])
    expect([lost.status, kept.status]).toEqual(['rejected', 'fulfilled'])
    expect(await store.events({ sessionId: 'other' })).toHaveLength(1)
    await store.close()
  })

  it('keeps its tables in a schema of their own, and needs no right to make it where it is there', async () => {
    await (await filled()).close()
    const tables = await runSql<{ schema: string }>(
      `SELECT DISTINCT table_schema AS schema FROM information_schema.tables WHERE table_name IN ('sessions', 'events', 'store_version')`,
      url,
    )
    expect(tables).toEqual([{ schema: 'mulligan' }])
  })

  it('no error has the password', async () => {
    const secret = encodeURIComponent(PASSWORD)
    const places = {
      'refused the login': url.replace(secret, 'wrong-password'),
      'There is no database': url.replace(/\/test_\d+/, '/none'),
      'is not valid': url.replace('127.0.0.1', '127.0.0.1:port'),
      'does not support SSL': `${url}?sslmode=verify-full`,
      'does not answer': url.replace('127.0.0.1', PASSWORD.replace(/\W/g, '').padEnd(12, 'x').concat('.invalid')),
      'password authentication failed for user "[secret]"': url.replace('ann', secret),
    }
    for (const [says, place] of Object.entries(places)) {
      const error = await openStore(place).then(
        () => new Error('opened'),
        (reason: unknown) => reason as Error,
      )
      expect(error.message).toContain(says)
      for (const text of [PASSWORD, secret, 'wrong-password'])
        expect(`${error.message}${error.stack}${JSON.stringify(error)}${String(error.cause)}`).not.toContain(text)
    }
  })
})

describe.skipIf(!hasPostgres)('a PostgreSQL server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    // Commits are acknowledged before they are on disk, and stay in memory for a while.
    server = await startPostgres({ synchronous_commit: 'off', bgwriter_lru_maxpages: '0', autovacuum: 'off' })
  })
  afterAll(() => server.stop())

  it('that crashes: an intent is there after a crash; control: what may be lost is', async () => {
    const url = await server.database()
    const store = await openStore(url)
    // The process that would write it to disk a moment later.
    const [{ pid = 0 } = {}] = await runSql<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`, url)
    process.kill(pid, 'SIGSTOP')
    await store.createSession({ id: 's', cwd: '/w', title: 'go' })
    await store.append([event(1)], false)
    await store.append([event(2)], true)
    await store.append([event(3)], false)
    expect(await idsIn(store)).toEqual([1, 2, 3])
    const crashed = server.crash()
    process.kill(pid, 'SIGKILL')
    await crashed
    await server.start()
    expect(await idsIn(store)).toEqual([1, 2])
    await store.close()
  })

  it('that is gone is reported with what to do, and what was queued is written when it is back', async () => {
    const store = await openStore(await server.database())
    await store.createSession({ id: 's', cwd: '/w', title: 'go' })
    await store.append([event(1)], true)
    await server.crash()
    await expect(store.append([event(2)], true)).rejects.toThrow(/does not answer.*Check that it is running/)
    await server.start()
    expect(await idsIn(store)).toEqual([1, 2])
    await store.close()
  })
})
