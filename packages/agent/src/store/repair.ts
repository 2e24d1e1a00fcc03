/** Salvages a damaged store: all rows that can be read go into a new file, and the damaged one is kept beside it. */
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from './sqlite.ts'

/** Sessions first: turns refer to them. */
const TABLES = ['sessions', 'turns', 'messages', 'calls', 'events', 'steps'] as const
type Table = (typeof TABLES)[number]

export interface StoreRepair {
  /** Rows that were saved, by table. */
  readonly saved: Readonly<Record<Table, number>>
  /** Tables of which a part could not be read. */
  readonly damaged: readonly Table[]
  /** Where the damaged file is now. */
  readonly kept: string
}

/**
 * Nothing may have the store open.
 *
 * @param path the file; a journal beside it is read too
 * @throws Error when there is no such file, or it is not a database at all; it is left as it is then
 */
export async function repairStore(path: string, now: Date = new Date()): Promise<StoreRepair> {
  if (!existsSync(path)) throw new Error(`there is no store ${path}`)
  const made = `${path}.repaired`
  for (const end of ['', '-wal', '-shm']) rmSync(`${made}${end}`, { force: true })
  const empty = await openStore(made)
  await empty.close()
  const into = new DatabaseSync(made, { enableForeignKeyConstraints: false })
  const saved = {} as Record<Table, number>
  const damaged: Table[] = []
  try {
    const from = new DatabaseSync(path, { enableForeignKeyConstraints: false })
    try {
      from.prepare('SELECT count(*) FROM sqlite_schema').get()
      into.exec('BEGIN')
      for (const table of TABLES) if (!copy(from, into, table)) damaged.push(table)
      // What belongs to a session whose own row is gone can still be read.
      into.exec(
        `INSERT OR IGNORE INTO sessions (id, cwd, title, created_at, updated_at, lease_until)
           SELECT session_id, '', 'recovered', min(started_at), max(started_at), 0 FROM turns GROUP BY session_id`,
      )
      into.exec(`UPDATE sessions SET owner = NULL; COMMIT`)
    } finally {
      from.close()
    }
    for (const table of TABLES) saved[table] = Number(Object.values(into.prepare(`SELECT count(*) FROM ${table}`).get() ?? {})[0])
  } catch (error) {
    into.close()
    rmSync(made, { force: true })
    throw error
  }
  into.close()
  const kept = `${path}.damaged-${now.toISOString().replace(/[:.]/g, '-')}`
  for (const end of ['', '-wal', '-shm']) if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${kept}${end}`)
  renameSync(made, path)
  chmodSync(path, 0o600)
  return { saved, damaged, kept }
}

/**
 * From both ends, since a page that can't be read ends a scan.
 *
 * @returns whether all of it could be read
 */
function copy(from: DatabaseSync, into: DatabaseSync, table: Table): boolean {
  const known = into
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name))
  const insert = into.prepare(`INSERT OR IGNORE INTO ${table} (${known.join(', ')}) VALUES (${known.map(() => '?').join(', ')})`)
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
const ORDER: Readonly<Record<Table, readonly string[]>> = {
  sessions: ['rowid'],
  turns: ['seq'],
  messages: ['seq'],
  calls: ['rowid'],
  events: ['session_id', 'id'],
  steps: ['turn_id', 'name'],
}
