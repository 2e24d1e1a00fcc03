/** Repairs a damaged store: all rows that can be read go into a new file, what is missing comes from the backups, and the damaged file is kept. */
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { backupsOf } from './backup.ts'
import { VERSIONS } from './schema.ts'
import { openDatabase } from './sqlite.ts'

/** Sessions first: turns refer to them. */
const TABLES = ['sessions', 'turns', 'log'] as const
type Table = (typeof TABLES)[number]
/** What an older store has in place of the log. */
const OLDER = ['messages', 'calls', 'events', 'steps'] as const

export interface StoreRepair {
  /** Rows that were saved, by table. */
  readonly saved: Readonly<Record<Table, number>>
  /** How many of them come from a backup, because the store does not have them any more. */
  readonly restored: Readonly<Record<Table, number>>
  /** Tables of which a part could not be read. */
  readonly damaged: readonly Table[]
  /** Where the damaged file is now; undefined where there was none, and all comes from a backup. */
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
 * Nothing may have the store open.
 *
 * @param path the file; a journal and backups beside it are read too
 * @throws NoStore; Error when neither it nor a backup is a database: it is left as it is then
 */
export async function repairStore(path: string, now: Date = new Date()): Promise<StoreRepair> {
  const backups = backupsOf(path).filter((file) => existsSync(file))
  if (!existsSync(path) && backups.length === 0) throw new NoStore(path)
  const made = `${path}.repaired`
  for (const end of ['', '-wal', '-shm']) rmSync(`${made}${end}`, { force: true })
  openDatabase(made).close()
  const into = new DatabaseSync(made, { enableForeignKeyConstraints: false })
  const damaged: Table[] = []
  const counts = (): Record<Table, number> =>
    Object.fromEntries(
      TABLES.map((table) => [table, Number(Object.values(into.prepare(`SELECT count(*) FROM ${table}`).get() ?? {})[0])]),
    ) as Record<Table, number>
  let saved: Record<Table, number>
  let read: Record<Table, number>
  try {
    into.exec('BEGIN')
    const unreadable = copyAll(path, into, damaged)
    read = counts()
    const fromBackups = backups.filter((file) => copyAll(file, into, []) === undefined)
    if (unreadable !== undefined && fromBackups.length === 0) throw unreadable
    // What belongs to a session whose own row is gone can still be read.
    into.exec(
      `INSERT OR IGNORE INTO sessions (id, cwd, title, created_at, updated_at, lease_until)
         SELECT session_id, '', 'recovered', min(started_at), max(started_at), 0 FROM turns GROUP BY session_id`,
    )
    into.exec(`UPDATE sessions SET owner = NULL; COMMIT`)
    saved = counts()
  } catch (error) {
    into.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${made}${end}`, { force: true })
    throw error
  }
  into.close()
  const kept = existsSync(path) ? `${path}.damaged-${now.toISOString().replace(/[:.]/g, '-')}` : undefined
  // A journal that is left would be taken for one of the new file.
  for (const end of ['', '-wal', '-shm']) if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${kept ?? `${path}.damaged`}${end}`)
  renameSync(made, path)
  chmodSync(path, 0o600)
  const restored = Object.fromEntries(TABLES.map((table) => [table, saved[table] - read[table]])) as Record<Table, number>
  return { saved, restored, damaged, kept }
}

/** @returns why nothing of it can be read */
function copyAll(path: string, into: DatabaseSync, damaged: Table[]): unknown {
  if (!existsSync(path)) return new NoStore(path)
  let from: DatabaseSync | undefined
  try {
    from = new DatabaseSync(path, { enableForeignKeyConstraints: false })
    const hasLog = from.prepare(`SELECT count(*) AS logs FROM sqlite_schema WHERE name = 'log'`).get()?.['logs'] === 1
    for (const table of ['sessions', 'turns'] as const) if (!copy(from, into, table)) damaged.push(table)
    if (!(hasLog ? copy(from, into, 'log') : copyOlder(from, into))) damaged.push('log')
    return undefined
  } catch (error) {
    return error
  } finally {
    from?.close()
  }
}

/** By way of tables like its own, but for turns of which the log has something already. @returns whether all of it could be read */
function copyOlder(from: DatabaseSync, into: DatabaseSync): boolean {
  const [tables = [], , toLog = []] = VERSIONS
  for (const table of OLDER)
    for (const sql of tables) if (sql.startsWith(`CREATE TABLE ${table} `)) into.exec(sql.replace('CREATE TABLE', 'CREATE TEMP TABLE'))
  const whole = OLDER.map((table) => copy(from, into, table)).every((all) => all)
  for (const table of OLDER) into.exec(`DELETE FROM temp.${table} WHERE turn_id IN (SELECT turn_id FROM log)`)
  for (const sql of toLog) if (!sql.startsWith('CREATE')) into.exec(sql.replace('INSERT', 'INSERT OR IGNORE'))
  return whole
}

/**
 * From both ends, since a page that can't be read ends a scan.
 *
 * @returns whether all of it could be read
 */
function copy(from: DatabaseSync, into: DatabaseSync, table: Table | (typeof OLDER)[number]): boolean {
  const known = into
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name))
  // After a loss the store may have given an order number again that a backup has for another row.
  const values = known.map((name) =>
    name === 'seq' ? `CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE seq = ?1) THEN NULL ELSE ?1 END` : '?',
  )
  // A row of the log has no name by which it is known again.
  const unlessThere = table === 'log' ? 'WHERE NOT EXISTS (SELECT 1 FROM log WHERE seq = ?1 AND body = ?5)' : ''
  const insert = into.prepare(`INSERT OR IGNORE INTO ${table} (${known.join(', ')}) SELECT ${values.join(', ')} ${unlessThere}`)
  const scan = (order: 'ASC' | 'DESC'): boolean => {
    try {
      // A column that an older store does not have gets its default; none is needed but `fence`.
      for (const row of from
        .prepare(`SELECT * FROM ${table} ORDER BY ${ORDER[table].map((name) => `${name} ${order}`).join(', ')}`)
        .iterate())
        insert.run(...known.map((name) => row[name] ?? (name === 'fence' ? 0 : null)))
      return true
    } catch {
      return false
    }
  }
  if (scan('ASC')) return true
  scan('DESC')
  return false
}

/** As the table itself is ordered, so that no index and no sorting is needed. */
const ORDER: Readonly<Record<Table | (typeof OLDER)[number], readonly string[]>> = {
  sessions: ['rowid'],
  turns: ['seq'],
  log: ['seq'],
  messages: ['seq'],
  calls: ['rowid'],
  events: ['session_id', 'id'],
  steps: ['turn_id', 'name'],
}
