/** The SQLite driver, using Node's own module: one file (WAL, private to the user). Statements are prepared once and cached. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { createBackups } from './backup.ts'
import { checkInserted, type Driver, type Fences, type SessionWrite, type Value } from './driver.ts'
import { openLastEvents } from './last-events.ts'
import { missingVersions, VERSIONS } from './schema.ts'
import { inSqlite, SQLITE_DUE, SQLITE_FORGET, SQLITE_UPDATE } from './search-index.ts'
import { SessionTakenOver } from './store.ts'

const MAX_STATEMENTS = 200
/**
 * `secure_delete` overwrites deleted content, so that it does not remain in the file's free pages; the search index deletes whenever it
 * merges. A checkpoint every 4,000 pages instead of SQLite's 1,000: the `-wal` file grows to 16 MB, and fewer commits wait for
 * one.
 */
const PRAGMAS = [
  'journal_mode = WAL',
  'synchronous = NORMAL',
  'busy_timeout = 5000',
  'foreign_keys = ON',
  'wal_autocheckpoint = 4000',
  'secure_delete = ON',
]
/**
 * SQLite's BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. With any other error, the row itself is at fault, and a retry would fail
 * too.
 */
const PASSING = new Set([5, 6, 8, 10, 13, 14])

/** SQLite's CORRUPT and NOTADB. */
const isDamage = (error: Error): boolean => [11, 26].includes(Number((error as { readonly errcode?: unknown }).errcode) & 0xff)

/** The end of a statement that inserts a row of a session; with {@link IF_FENCED}, it inserts nothing if the session was claimed again. */
const OF_SESSION = ' FROM sessions WHERE id = ?'
const IF_FENCED = ' AND fence = ?'
const isInsertOfRow = ({ sql }: SessionWrite): boolean => sql.endsWith(OF_SESSION)

/** Opens the database file. @throws Error if it can't be written or was written by a newer version */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(path)
  try {
    for (const pragma of PRAGMAS) database.exec(`PRAGMA ${pragma}`)
    migrate(database, path)
  } catch (error) {
    database.close()
    throw error
  }
  if (path !== ':memory:') for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
  return database
}

function migrate(database: DatabaseSync, path: string): void {
  const missing = (): readonly string[] =>
    missingVersions('sqlite', path, Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0))
  if (missing().length === 0) return
  transaction(database, () => {
    for (const statement of missing()) database.exec(statement)
    database.exec(`PRAGMA user_version = ${VERSIONS.length}`)
  })
}

function transaction(database: DatabaseSync, work: () => void, prepare = (sql: string) => database.prepare(sql)): void {
  // A write transaction from the start: one that starts with a read could not be upgraded if another process wrote in between.
  prepare('BEGIN IMMEDIATE').run()
  try {
    work()
    prepare('COMMIT').run()
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * Opens a SQLite store.
 * @param path a file, or `:memory:`
 * @param onWarning called if its latest writes are missing
 * @throws Error if it can't be written or was written by a newer version
 */
export function openSqlite(path: string, onWarning: (text: string) => void): Driver {
  const database = openDatabase(path)
  const prepared = new Map<string, StatementSync>()
  /** Inserts that do nothing if the session was claimed again. */
  const fenced = new Map<string, StatementSync>()

  function prepare(text: string, cache = prepared): StatementSync {
    const known = cache.get(text)
    if (known) return known
    const statement = database.prepare(cache === fenced ? `${text}${IF_FENCED}` : text)
    if (cache.size < MAX_STATEMENTS) cache.set(text, statement)
    return statement
  }

  /** Runs a statement. The message of an error about a damaged file names the file. */
  function naming<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof Error && isDamage(error) && !error.message.includes(path)) error.message = `${path}: ${error.message}`
      throw error
    }
  }

  const rows = <Row>(sql: string, parameters: readonly Value[]): readonly Row[] => naming(() => prepare(sql).all(...parameters)) as Row[]

  /** Runs a statement of a batch. One that inserts a row also checks the session's fence. */
  function writeRow(one: SessionWrite, fence: number | undefined): void {
    if (fence === undefined || !isInsertOfRow(one)) checkInserted(one, prepare(one.sql).run(...one.parameters).changes)
    else if (prepare(one.sql, fenced).run(...one.parameters, fence).changes === 0) throw new SessionTakenOver(one.sessionId)
  }

  /** Checks the fences of sessions whose first statement does not. The other process's writes may be why a later one would be refused. */
  function checkFences(batch: readonly SessionWrite[], fences: Fences): void {
    const first = new Map(batch.map((one) => [one.sessionId, one] as const).reverse())
    for (const [id, fence] of fences) {
      const one = first.get(id)
      if (one && isInsertOfRow(one)) continue
      const [row] = rows<{ readonly fence: number }>('SELECT fence FROM sessions WHERE id = ?', [id])
      if (row?.fence !== fence) throw new SessionTakenOver(id)
    }
  }

  function writeAll(batch: readonly SessionWrite[], fences: Fences): void {
    checkFences(batch, fences)
    for (const one of batch) writeRow(one, fences.get(one.sessionId))
  }

  function write(batch: readonly SessionWrite[], fences: Fences, durable: boolean): undefined {
    // WAL with synchronous=NORMAL does not guarantee that the latest commits survive a power failure.
    if (durable) database.exec('PRAGMA synchronous = FULL')
    const [only, ...more] = batch
    try {
      naming(() => {
        // A row that checks its fence needs no transaction, and nearly all batches are one.
        if (only && more.length === 0 && isInsertOfRow(only) && fences.size === 1) writeRow(only, fences.get(only.sessionId))
        else transaction(database, () => writeAll(batch, fences), prepare)
      })
    } finally {
      if (durable) database.exec('PRAGMA synchronous = NORMAL')
    }
    lastEvents?.record(batch, durable)
  }

  const isFile = path !== ':memory:'
  const backups = isFile ? createBackups(path) : undefined
  const lastEvents = isFile ? openLastEvents(path, rows, onWarning) : undefined
  return {
    host: hostname(),
    now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    all: async (sql, ...parameters) => rows(sql, parameters),
    write,
    findWord: inSqlite,
    updateSearch: async () => {
      while (rows(SQLITE_DUE, []).length > 0) {
        naming(() => transaction(database, () => SQLITE_UPDATE.forEach((sql) => void prepare(sql).run()), prepare))
        await setImmediate()
      }
    },
    erase: async (sessionId, batch, fences) => {
      await backups?.finished()
      lastEvents?.forget(sessionId)
      write([...batch, ...SQLITE_FORGET.map((sql) => ({ sessionId, sql, parameters: [] }))], fences, true)
      backups?.renew()
    },
    mayPass: (error) => PASSING.has(Number((error as { errcode?: unknown }).errcode) & 0xff),
    afterTurn: () =>
      backups?.startIfDue(() => Number(rows<{ last: number | null }>('SELECT max(seq) AS last FROM turns', [])[0]?.last ?? 0)),
    close: async () => {
      await backups?.finished()
      lastEvents?.close()
      prepared.clear()
      fenced.clear()
      database.close()
    },
  }
}
