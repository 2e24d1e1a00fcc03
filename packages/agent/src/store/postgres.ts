/** The PostgreSQL driver, using the package `pg`. The tables are in a separate schema, `mulligan`. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { machineId } from './claim.ts'
import { checkInserted, type Driver, type Fences, lostSession, type SessionWrite, type Value } from './driver.ts'
import { type Address, addressOf, explained, isLost, isRowAtFault, mayBeRepeated, PostgresError } from './postgres-errors.ts'
import { missingVersions, VERSIONS } from './schema.ts'
import { inPostgres } from './search-index.ts'
import { SessionTakenOver } from './store.ts'

/** Milliseconds between connection attempts, about 6 s in all. */
const BACKOFF = [100, 200, 400, 800, 1600, 3200]
/** Milliseconds after the first attempt from which there are no more retries. */
const GIVE_UP_AFTER = 20_000
const MAX_CONNECTIONS = 4
const BIGINT = 20
/** The advisory lock for creating or changing tables. Any number would do; this one is "mulligan" in ASCII. */
const MIGRATION_LOCK = '7887321532480676206'

const BEGIN = 'BEGIN'
/** Forces durable commits even if the server's setting would answer before the commit is on disk. `remote_apply` is stronger. */
const BEGIN_DURABLE = `BEGIN; SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')`
const TRANSACTION_ID = 'SELECT pg_current_xact_id()::text AS xid'
const TRANSACTION_STATUS = 'SELECT pg_xact_status(?::xid8) AS status'
const LOCK_SESSIONS = 'SELECT id, fence FROM sessions WHERE id = ANY (?::text[]) ORDER BY id FOR NO KEY UPDATE'

export interface PostgresOptions {
  /** The id of this machine; set by tests that simulate several. */
  readonly host?: string
}

/**
 * Opens a PostgreSQL store.
 * @throws PostgresError; Error if the address is wrong, `pg` is not installed, or the store was written by a newer version
 */
export async function openPostgres(connectionString: string, { host = machineId() }: PostgresOptions = {}): Promise<Driver> {
  const pg = await loadPg()
  const address = addressOf(connectionString, (config) => new pg.Client(config))
  const pool = new pg.Pool({
    connectionString,
    max: MAX_CONNECTIONS,
    application_name: 'mulligan',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
    allowExitOnIdle: true,
    pipeline: true,
    types: { getTypeParser: (oid: number, format: never) => (oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) },
  } as ConstructorParameters<typeof Pool>[0])
  // An idle connection was lost: the next query opens another.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    client.query('SET search_path TO mulligan').catch(() => undefined)
  })
  const retrying = <T>(work: () => Promise<T>): Promise<T> => withBackoff(work, address)
  try {
    await retrying(() => migrate(pool, address))
  } catch (error) {
    await pool.end().catch(() => undefined)
    throw error
  }

  async function all<Row>(sql: string, ...parameters: readonly Value[]): Promise<readonly Row[]> {
    return retrying(async () => (await pool.query(statement(sql, parameters))).rows as Row[])
  }

  /** Writes a batch. Starts over if the connection was lost before the commit, since nothing was written then. */
  const write = (batch: readonly SessionWrite[], fences: Fences, durable: boolean): Promise<void> =>
    retrying(async () => {
      const client = await pool.connect()
      let xid: string
      try {
        xid = await send(client, batch, fences, durable)
      } catch (error) {
        const isOver =
          isLost(error) ||
          !(await client.query('ROLLBACK').then(
            () => true,
            () => false,
          ))
        client.release(isOver)
        throw error
      }
      try {
        await client.query('COMMIT')
        client.release()
      } catch (error) {
        client.release(true)
        if (!isLost(error)) throw error
        if (!(await wasCommitted(xid))) throw error
      }
    })

  /** Returns whether a commit took effect whose answer was lost. @throws PostgresError if the server doesn't know */
  async function wasCommitted(xid: string): Promise<boolean> {
    for (const delay of BACKOFF) {
      const [row] = await all<{ status: string | null }>(TRANSACTION_STATUS, xid)
      if (row?.status === 'committed' || row?.status === 'aborted') return row.status === 'committed'
      if (row?.status !== 'in progress') break
      await sleep(delay)
    }
    throw new PostgresError(
      `PostgreSQL at ${address.shown} lost the connection while saving, so it is not known whether the data was saved.`,
    )
  }

  return {
    host,
    now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
    all,
    write,
    findWord: inPostgres,
    erase: (_, batch, fences) => write(batch, fences, true),
    mayPass: (error) => !isRowAtFault(error),
    afterTurn: () => undefined,
    close: () => pool.end(),
  }
}

/** Sends everything except the commit in one go. @returns the id of the transaction @throws SessionTakenOver, MissingSession */
async function send(client: PoolClient, batch: readonly SessionWrite[], fences: Fences, durable: boolean): Promise<string> {
  const sent = [
    client.query(durable ? BEGIN_DURABLE : BEGIN),
    client.query(TRANSACTION_ID),
    client.query(statement(LOCK_SESSIONS, [[...fences.keys()]])),
    ...batch.map(({ sql, parameters }) => client.query(statement(sql, parameters))),
  ]
  const results = await Promise.allSettled(sent)
  const [, id, locked] = results
  const failed = results.find((result) => result.status === 'rejected')
  const rows = locked?.status === 'fulfilled' ? (locked.value.rows as { id: string; fence: number }[]) : []
  const lost = locked?.status === 'fulfilled' ? lostSession(fences, rows) : undefined
  // Check this first: the other process's writes may be why a row was refused.
  if (lost !== undefined) throw new SessionTakenOver(lost)
  if (failed) throw failed.reason
  for (const [at, one] of batch.entries()) {
    const result = results[results.length - batch.length + at]
    if (result?.status === 'fulfilled') checkInserted(one, result.value.rowCount)
  }
  return id?.status === 'fulfilled' ? String((id.value.rows[0] as { xid: string }).xid) : ''
}

const texts = new Map<string, { readonly name: string; readonly text: string }>()

/** Returns a statement that is prepared once per connection. PostgreSQL numbers its parameters and does not allow NUL in text. */
function statement(sql: string, parameters: readonly (Value | readonly string[])[]) {
  let known = texts.get(sql)
  if (known === undefined) {
    let n = 0
    known = { name: `mulligan-${texts.size}`, text: sql.replace(/\?/g, () => `$${++n}`) }
    texts.set(sql, known)
  }
  return { ...known, values: parameters.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value)) }
}

async function migrate(pool: Pool, { shown }: Address): Promise<void> {
  const client = await pool.connect()
  try {
    if ((await missingAt(client, shown)).length === 0) return
    await client.query(BEGIN_DURABLE)
    // Held until the commit: if two processes open an empty database at once, one waits.
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    const { rows } = await client.query(`SELECT to_regnamespace('mulligan') AS found`)
    if (rows[0]?.found === null) await client.query('CREATE SCHEMA mulligan')
    await client.query('CREATE TABLE IF NOT EXISTS store_version (version INTEGER NOT NULL)')
    for (const one of await missingAt(client, shown)) await client.query(one)
    await client.query('DELETE FROM store_version')
    await client.query(`INSERT INTO store_version (version) VALUES (${VERSIONS.length})`)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

async function missingAt(client: PoolClient, shown: string): Promise<readonly string[]> {
  const { rows: found } = await client.query(`SELECT to_regclass('mulligan.store_version') AS found`)
  if (found[0]?.found === null) return missingVersions('postgres', shown, 0)
  const { rows } = await client.query('SELECT version FROM mulligan.store_version')
  return missingVersions('postgres', shown, Number(rows[0]?.version ?? 0))
}

/** Retries while only the connection fails. @throws PostgresError */
async function withBackoff<T>(work: () => Promise<T>, address: Address): Promise<T> {
  const until = Date.now() + GIVE_UP_AFTER
  for (const delay of [...BACKOFF, undefined]) {
    try {
      return await work()
    } catch (error) {
      if (!mayBeRepeated(error) || delay === undefined || Date.now() > until) throw explained(error, address)
      await sleep(delay)
    }
  }
  throw new TypeError('unreachable')
}

async function loadPg(): Promise<typeof import('pg')['default']> {
  try {
    return (await import('pg')).default
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(
      'A PostgreSQL store needs the package pg, which is not installed. Install it beside mulligan: npm install pg (-g if mulligan is global).',
    )
  }
}
