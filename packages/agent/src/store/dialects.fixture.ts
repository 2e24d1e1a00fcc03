/** The databases a store can use, for tests that run on each of them. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { machineId } from './claim.ts'
import { openStore } from './open.ts'
import { hasPostgres, type PostgresServer, runSql, startPostgres } from './postgres.fixture.ts'
import { openPostgres } from './postgres.ts'
import { sqlStore } from './sql-store.ts'
import type { Store } from './store.ts'

export interface Dialect {
  readonly name: string
  /** Returns a location for a new store. */
  readonly place: (folder: string) => Promise<string>
  /** Runs SQL directly, bypassing the store. */
  readonly change: (place: string, sql: string) => Promise<void>
  /** This machine's id in claims. */
  readonly host: string
  readonly setVersion: (version: number) => string
}

let server: Promise<PostgresServer> | undefined
/** Returns the server, one per test file. */
export const postgres = (): Promise<PostgresServer> => {
  server ??= startPostgres()
  return server
}
export async function stopPostgres(): Promise<void> {
  await (await server)?.stop()
  server = undefined
}

export const SQLITE: Dialect = {
  name: 'SQLite',
  place: async (folder) => join(folder, 'deep', 'store.db'),
  change: async (place, sql) => {
    const database = new DatabaseSync(place)
    database.exec(sql)
    database.close()
  },
  host: hostname(),
  setVersion: (version) => `PRAGMA user_version = ${version}`,
}

export const POSTGRES: Dialect = {
  name: 'PostgreSQL',
  place: async () => (await postgres()).database(),
  change: async (place, sql) => void (await runSql(`SET search_path TO mulligan; ${sql}`, place)),
  host: machineId(),
  setVersion: (version) => `UPDATE store_version SET version = ${version}`,
}

export const DIALECTS: readonly Dialect[] = hasPostgres ? [SQLITE, POSTGRES] : [SQLITE]

/** Opens a store as another machine would. */
export const openOn = async (place: string, host: string): Promise<Store> =>
  place.startsWith('postgres:') ? sqlStore(await openPostgres(place, { host })) : openStore(place)
