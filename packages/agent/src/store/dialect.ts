/** Node's own SQLite behind Kysely. Statements are prepared once and kept. */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { SqliteDialect } from 'kysely'

const MAX_STATEMENTS = 200

export function nodeSqliteDialect(path: string): SqliteDialect {
  const database = new DatabaseSync(path)
  for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'busy_timeout = 5000', 'foreign_keys = ON'])
    database.exec(`PRAGMA ${pragma}`)
  const statements = new Map<string, StatementSync>()
  return new SqliteDialect({
    database: {
      close: () => {
        statements.clear()
        database.close()
      },
      prepare: (text) => {
        const known = statements.get(text)
        const statement = known ?? database.prepare(text)
        if (!known && statements.size < MAX_STATEMENTS) statements.set(text, statement)
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...(parameters as never[])),
          run: (parameters) => statement.run(...(parameters as never[])),
          iterate: (parameters) => statement.iterate(...(parameters as never[])) as IterableIterator<unknown>,
        }
      },
    },
  })
}
