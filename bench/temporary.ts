import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStore, type Store } from '@mulligan/agent'
import { hasPostgres, startPostgres } from '../packages/agent/src/store/postgres.fixture.ts'

/** Runs `work` with a store in a temporary file, which is deleted afterwards. */
export async function withFileStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const store = await openStore(join(folder, 'store.db'))
  try {
    return await work(store)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A table in a temporary file, in WAL mode. */
export function temporaryDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const opened: DatabaseSync[] = []
  return {
    /** Returns a function that inserts a row, in a file of its own. */
    insert(synchronous: 'NORMAL' | 'FULL'): (body: string) => void {
      const database = new DatabaseSync(join(folder, `${synchronous}.db`))
      opened.push(database)
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; CREATE TABLE log (seq INTEGER PRIMARY KEY, body TEXT)`)
      const insert = database.prepare('INSERT INTO log (body) VALUES (?)')
      return (body) => void insert.run(body)
    },
    [Symbol.dispose](): void {
      for (const database of opened) database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The same with a temporary PostgreSQL server with synchronous commits; undefined if there is none on this machine. */
export async function withPostgresStore<T>(work: (store: Store | undefined) => Promise<T>): Promise<T> {
  if (!hasPostgres) return work(undefined)
  const server = await startPostgres({ fsync: 'on' })
  const store = await openStore(await server.database())
  try {
    return await work(store)
  } finally {
    await store.close()
    await server.stop()
  }
}
