/** Opens a store: a SQLite file or a PostgreSQL database. */
import { sqlStore } from './sql-store.ts'
import { openSqlite } from './sqlite.ts'
import type { Store } from './store.ts'

export interface OpenStoreOptions {
  /** Called if a file has lost some of its earlier writes. Default: `process.emitWarning`. */
  readonly onWarning?: (text: string) => void
}

/** Returns whether a store's location is a PostgreSQL database and not a file. */
export const isPostgresUrl = (place: string): boolean => /^postgres(?:ql)?:/i.test(place)

/**
 * Opens the store, creating or upgrading it if needed.
 *
 * @param place a file (folder 0700, file 0600), `:memory:`, or `postgres://USER@HOST:5432/DATABASE`, which needs the package `pg`
 * @throws Error if it can't be read or written, or was written by a newer version; the message says what to do and contains no
 * password
 */
export async function openStore(place: string, { onWarning = (text) => process.emitWarning(text) }: OpenStoreOptions = {}): Promise<Store> {
  if (!isPostgresUrl(place)) return sqlStore(openSqlite(place, onWarning))
  const { openPostgres } = await import('./postgres.ts')
  return sqlStore(await openPostgres(place))
}
