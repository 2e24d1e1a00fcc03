/** Node's own SQLite: behind Kysely for what is read, and directly for batches of writes. Statements are prepared once and kept. */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { SqliteDialect } from 'kysely'

/** One statement to be run, with its values. */
export interface Write {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

export interface NodeSqlite {
  readonly dialect: SqliteDialect
  /**
   * All in one transaction, in order, or none. Synchronous, so that nothing gets in between, and a row costs what SQLite takes for it.
   * `check` runs inside, before the first one, and may throw.
   * `durable`: on disk even if the power fails, which WAL with synchronous=NORMAL does not promise for the latest commits.
   */
  readonly write: (batch: readonly Write[], durable: boolean, check?: () => void) => void
  /** The first column of the first row. */
  readonly value: (query: Write) => unknown
}

const MAX_STATEMENTS = 200

interface Prepared {
  readonly statement: StatementSync
  readonly reader: boolean
}

export function openSqlite(path: string): NodeSqlite {
  const database = new DatabaseSync(path)
  for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'busy_timeout = 5000', 'foreign_keys = ON'])
    database.exec(`PRAGMA ${pragma}`)
  const prepared = new Map<string, Prepared>()

  function prepare(text: string): Prepared {
    const known = prepared.get(text)
    if (known) return known
    const statement = database.prepare(text)
    const made = { statement, reader: statement.columns().length > 0 }
    if (prepared.size < MAX_STATEMENTS) prepared.set(text, made)
    return made
  }

  function transaction(batch: readonly Write[], check: (() => void) | undefined): void {
    // At once to write: a check that reads first could not become a write later, if another process wrote in between.
    database.exec('BEGIN IMMEDIATE')
    try {
      check?.()
      for (const { sql, parameters } of batch) prepare(sql).statement.run(...(parameters as never[]))
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  return {
    value: ({ sql, parameters }) => Object.values(prepare(sql).statement.get(...(parameters as never[])) ?? {})[0],
    write: (batch, durable, check) => {
      if (!durable) return transaction(batch, check)
      database.exec('PRAGMA synchronous = FULL')
      try {
        transaction(batch, check)
      } finally {
        database.exec('PRAGMA synchronous = NORMAL')
      }
    },
    dialect: new SqliteDialect({
      database: {
        close: () => {
          prepared.clear()
          database.close()
        },
        prepare: (text) => {
          const { statement, reader } = prepare(text)
          return {
            reader,
            all: (parameters) => statement.all(...(parameters as never[])),
            run: (parameters) => statement.run(...(parameters as never[])),
            iterate: (parameters) => statement.iterate(...(parameters as never[])) as IterableIterator<unknown>,
          }
        },
      },
    }),
  }
}
