/** SQLite, through Node's own module: one file (WAL, private to the user). Statements are prepared once and kept. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { createBackups } from './backup.ts'
import { type Driver, type Fences, lostSession, type SessionWrite, type Value } from './driver.ts'
import { openLastEvents } from './last-events.ts'
import { missingVersions, VERSIONS } from './schema.ts'
import { SessionTakenOver } from './store.ts'

const MAX_STATEMENTS = 200
/** SQLite's BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. Anything else is wrong with the row itself, and would be again. */
const PASSING = new Set([5, 6, 8, 10, 13, 14])

const IF_FENCED = 'SELECT $1 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ? AND fence = ?)'

/** @throws Error when it can't be written or was written by a newer version */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(path)
  try {
    for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'busy_timeout = 5000', 'foreign_keys = ON'])
      database.exec(`PRAGMA ${pragma}`)
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
    missingVersions(path, Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0))
  if (missing().length === 0) return
  transaction(database, () => {
    for (const statement of missing()) database.exec(statement)
    database.exec(`PRAGMA user_version = ${VERSIONS.length}`)
  })
}

function transaction(database: DatabaseSync, work: () => void, prepare = (sql: string) => database.prepare(sql)): void {
  // At once to write: a check that reads first could not become a write later, if another process wrote in between.
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
 * @param path a file, or `:memory:`
 * @param onWarning called when its latest writes are missing
 * @throws Error when it can't be written or was written by a newer version
 */
export function openSqlite(path: string, onWarning: (text: string) => void): Driver {
  const database = openDatabase(path)
  const prepared = new Map<string, StatementSync>()
  /** Inserts that do nothing where the session was claimed anew. */
  const fenced = new Map<string, StatementSync>()

  function prepare(text: string, cache = prepared): StatementSync {
    const known = cache.get(text)
    if (known) return known
    const statement = database.prepare(cache === fenced ? text.replace(/VALUES \((.*)\)$/, IF_FENCED) : text)
    if (cache.size < MAX_STATEMENTS) cache.set(text, statement)
    return statement
  }

  const rows = <Row>(sql: string, parameters: readonly Value[]): readonly Row[] => prepare(sql).all(...parameters) as Row[]

  /** A batch of one row, as nearly all are, takes one statement, which checks the fence too. @returns whether it was such a batch */
  function insertFenced([row, ...more]: readonly SessionWrite[], fences: Fences): boolean {
    const [fence, ...others] = fences
    if (!row?.sql.startsWith('INSERT') || more.length > 0 || fence === undefined || others.length > 0) return false
    const { changes } = prepare(row.sql, fenced).run(...row.parameters, ...fence)
    if (changes === 0) throw new SessionTakenOver(row.sessionId)
    return true
  }

  function write(batch: readonly SessionWrite[], fences: Fences, durable: boolean): undefined {
    // WAL with synchronous=NORMAL does not promise the latest commits after a power failure.
    if (durable) database.exec('PRAGMA synchronous = FULL')
    try {
      const checked = (): void => {
        const known = [...fences.keys()].flatMap((id) =>
          rows<{ id: string; fence: number }>('SELECT id, fence FROM sessions WHERE id = ?', [id]),
        )
        const lost = lostSession(fences, known)
        if (lost !== undefined) throw new SessionTakenOver(lost)
        for (const { sql, parameters } of batch) prepare(sql).run(...parameters)
      }
      if (!insertFenced(batch, fences)) transaction(database, checked, (sql) => prepare(sql))
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
    erase: async (sessionId, batch, fences) => {
      await backups?.finished()
      lastEvents?.forget(sessionId)
      // What is deleted is overwritten, and does not stay in the free pages of the file.
      database.exec('PRAGMA secure_delete = ON')
      write(batch, fences, true)
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
