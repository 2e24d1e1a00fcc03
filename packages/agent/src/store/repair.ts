/** Repairs a damaged store: all readable rows go into a new file, missing rows come from the backups, and the damaged file is kept. */
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { backupsOf } from './backup.ts'
import { sessionOf } from './log.ts'
import { keyOf, LAST_ROW, MARK_COMPACTED, ROW_NUMBER, SESSION_NUMBER, VERSIONS } from './schema.ts'
import { openDatabase } from './sqlite.ts'

/** Sessions first: turns refer to them. */
const TABLES = ['sessions', 'turns', 'log', 'approvals', 'requests'] as const
type Table = (typeof TABLES)[number]
type Counts = Record<Table, number>
/** Tables that older stores do not have. */
const LATER: readonly Table[] = ['approvals', 'requests']
/** Tables of older stores, before the log. */
const OLDER = ['messages', 'calls', 'events', 'steps'] as const

export interface StoreRepair {
  /** Rows that were saved, by table. */
  readonly saved: Readonly<Record<Table, number>>
  /** Number of those rows that come from a backup because the store has lost them. */
  readonly restored: Readonly<Record<Table, number>>
  /** Tables that could not be read completely. */
  readonly damaged: readonly Table[]
  /** New path of the damaged file; undefined if there was none and everything comes from a backup. */
  readonly kept: string | undefined
}

/** There is neither a store nor a backup. */
export class NoStore extends Error {
  constructor(path: string) {
    super(`there is no store ${path}`)
    this.name = 'NoStore'
  }
}

/**
 * Repairs a store. No process may have it open.
 *
 * @param path the file; a journal and backups beside it are read too
 * @throws NoStore; Error if neither the file nor a backup is a database, in which case the file is left unchanged
 */
export async function repairStore(path: string, now: Date = new Date()): Promise<StoreRepair> {
  const backups = backupsOf(path).filter((file) => existsSync(file))
  if (!existsSync(path) && backups.length === 0) throw new NoStore(path)
  const made = `${path}.repaired`
  for (const end of ['', '-wal', '-shm']) rmSync(`${made}${end}`, { force: true })
  openDatabase(made).close()
  const into = new DatabaseSync(made, { enableForeignKeyConstraints: false })
  const damaged: Table[] = []
  const read = {} as Counts
  const saved = {} as Counts
  const [store, ...others] = [path, ...backups].map(openSource)
  const opened = [store, ...others].filter((source) => source instanceof DatabaseSync)
  try {
    if (opened.length === 0) throw store
    into.exec('BEGIN')
    into.exec(`CREATE UNIQUE INDEX repaired_events ON log (${SESSION_NUMBER}, event_id)`)
    for (const table of TABLES) {
      const copied = (from: DatabaseSync): boolean => {
        if (table === 'log') return copyAnyLog(from, into)
        return (LATER.includes(table) && !hasTable(from, table)) || copy(from, into, table)
      }
      if (store instanceof DatabaseSync && !copied(store)) damaged.push(table)
      read[table] = countOf(into, table)
      for (const backup of opened) if (backup !== store) copied(backup)
      // Content of a session whose own row is lost can still be read.
      if (table === 'turns')
        into.exec(`${RECOVER} SELECT session_id, '', 'recovered', min(started_at), max(started_at), 0 FROM turns GROUP BY session_id`)
    }
    into.exec(`DROP INDEX repaired_events; ${MARK_COMPACTED}; UPDATE sessions SET owner = NULL; COMMIT`)
    for (const table of TABLES) saved[table] = countOf(into, table)
  } catch (error) {
    into.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${made}${end}`, { force: true })
    throw error
  } finally {
    for (const source of opened) source.close()
  }
  into.close()
  const kept = existsSync(path) ? `${path}.damaged-${now.toISOString().replace(/[:.]/g, '-')}` : undefined
  // A journal left behind would be mistaken for the new file's.
  for (const end of ['', '-wal', '-shm']) if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${kept ?? `${path}.damaged`}${end}`)
  renameSync(made, path)
  chmodSync(path, 0o600)
  const restored = Object.fromEntries(TABLES.map((table) => [table, saved[table] - read[table]])) as Counts
  return { saved, restored, damaged, kept }
}

/** Opens a file to read from. @returns the error if it is not a database */
function openSource(path: string): DatabaseSync | unknown {
  if (!existsSync(path)) return new NoStore(path)
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    hasLog(database)
    return database
  } catch (error) {
    database.close()
    return error
  }
}

const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare('SELECT count(*) AS tables FROM sqlite_schema WHERE name = ?').get(name)?.['tables'] === 1

const hasLog = (database: DatabaseSync): boolean => hasTable(database, 'log')

const countOf = (database: DatabaseSync, table: Table): number =>
  Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'])

const RECOVER = 'INSERT OR IGNORE INTO sessions (id, cwd, title, created_at, updated_at, lease_until)'

const copyAnyLog = (from: DatabaseSync, into: DatabaseSync): boolean => (hasLog(from) ? copyLog(from, into) : copyOlder(from, into))

/**
 * Copies an older store through temporary tables with its layout, except turns that the log already contains. @returns whether
 * everything could be read
 */
function copyOlder(from: DatabaseSync, into: DatabaseSync): boolean {
  const [tables = [], , toLog = []] = VERSIONS
  for (const sql of [...tables, ...toLog])
    if ([...OLDER, 'log'].some((table) => sql.startsWith(`CREATE TABLE ${table} `)))
      into.exec(sql.replace('CREATE TABLE', 'CREATE TEMP TABLE'))
  const whole = OLDER.map((table) => copy(from, into, table)).every((all) => all)
  for (const table of OLDER) into.exec(`DELETE FROM temp.${table} WHERE turn_id IN (SELECT turn_id FROM main.log)`)
  for (const sql of toLog) if (sql.startsWith('INSERT')) into.exec(sql)
  copyLog(into, into)
  for (const table of [...OLDER, 'log']) into.exec(`DROP TABLE temp.${table}`)
  return whole
}

/** Copies the log under the numbers that the sessions have in the new file. @returns whether everything could be read */
function copyLog(from: DatabaseSync, into: DatabaseSync): boolean {
  const recover = into.prepare(`${RECOVER} VALUES (?, '', 'recovered', 0, 0, 0)`)
  // After a loss, the store may have given a row's number to another one.
  const insert = into.prepare(
    `INSERT OR IGNORE INTO main.log (seq, turn_id, event_id, body)
       SELECT CASE WHEN EXISTS (SELECT 1 FROM main.log WHERE seq = ${keyOf('?1')}) THEN ${keyOf(LAST_ROW)} + 1 ELSE ${keyOf('?1')} END, ?2, ?3, ?4 FROM sessions
       WHERE id = ?5 AND NOT EXISTS (SELECT 1 FROM main.log WHERE seq = ${keyOf('?1')} AND body = ?4)`,
  )
  return scan(from, `SELECT ${ROW_NUMBER} AS number, turn_id, event_id, body FROM log`, ['seq'], (row) => {
    const sessionId = sessionOf(String(row['turn_id']))
    recover.run(sessionId)
    insert.run(...(['number', 'turn_id', 'event_id', 'body'] as const).map((name) => row[name] ?? null), sessionId)
  })
}

/** Copies a table. @returns whether everything could be read */
function copy(from: DatabaseSync, into: DatabaseSync, table: keyof typeof ORDER): boolean {
  const known = into
    .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'number'`)
    .all()
    .map(({ name }) => String(name))
  // After a loss, the store may have reused a sequence number that a backup has for another row.
  const values = known.map((name) =>
    name === 'seq' ? `CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE seq = ?1) THEN NULL ELSE ?1 END` : '?',
  )
  const insert = into.prepare(`INSERT OR IGNORE INTO ${table} (${known.join(', ')}) VALUES (${values.join(', ')})`)
  // A column missing in an older store gets its default; only `fence` is required.
  return scan(from, `SELECT * FROM ${table}`, ORDER[table], (row) =>
    insert.run(...known.map((name) => row[name] ?? (name === 'fence' ? 0 : null))),
  )
}

/** Reads rows from both ends, since an unreadable page ends a scan. @returns whether everything could be read */
function scan(
  from: DatabaseSync,
  select: string,
  columns: readonly string[],
  add: (row: Record<string, SQLOutputValue>) => unknown,
): boolean {
  const read = (order: 'ASC' | 'DESC'): boolean => {
    try {
      for (const row of from.prepare(`${select} ORDER BY ${columns.map((name) => `${name} ${order}`).join(', ')}`).iterate()) add(row)
      return true
    } catch {
      return false
    }
  }
  if (read('ASC')) return true
  read('DESC')
  return false
}

/** The physical order of each table, so that no index and no sorting is needed. */
const ORDER = {
  sessions: ['rowid'],
  turns: ['seq'],
  messages: ['seq'],
  calls: ['rowid'],
  events: ['session_id', 'id'],
  steps: ['turn_id', 'name'],
  approvals: ['seq'],
  requests: ['rowid'],
} as const
