/**
 * The record of calls that may change something. A row is on disk before such a call is sent, so that a call that was cut off is known
 * after any crash, and is not repeated by itself.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A call of which it is not known whether it took effect. */
export interface UnknownCall {
  readonly id: number
  /** The server's command or address. */
  readonly server: string
  readonly tool: string
  /** The arguments' JSON, shortened. */
  readonly input: string
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface Journal {
  /** Stores that a call is about to be sent. It is on disk when this returns. @returns the row's id */
  readonly intend: (call: { readonly server: string; readonly tool: string; readonly key: string; readonly input: string }) => number
  /** Stores that a call has ended, or that a person has settled it. */
  readonly settle: (id: number) => void
  /** Stores that it is not known whether a call took effect. */
  readonly doubt: (id: number) => void
  /** Returns the unknown call with this key. Calls of proxies that are gone are unknown. */
  readonly unknown: (server: string, key: string) => UnknownCall | undefined
  /** Returns all unknown calls, latest first. */
  readonly all: () => readonly UnknownCall[]
  readonly close: () => void
}

const SCHEMA = `
  PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, server TEXT NOT NULL, tool TEXT NOT NULL, key TEXT NOT NULL, input TEXT NOT NULL,
    at INTEGER NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL, doubted INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS calls_by_key ON calls (server, key);`

/**
 * @param owner the process whose rows these are. Default: this one
 * @throws Error if the file can't be opened
 */
export function openJournal(file: string, owner: number = process.pid): Journal {
  const started = startOf(owner) ?? ''
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(file)
  db.exec(SCHEMA)
  const insert = db.prepare('INSERT INTO calls (server, tool, key, input, at, pid, started) VALUES (?, ?, ?, ?, ?, ?, ?)')
  const remove = db.prepare('DELETE FROM calls WHERE id = ?')
  const mark = db.prepare('UPDATE calls SET doubted = 1 WHERE id = ?')
  const byKey = db.prepare('SELECT * FROM calls WHERE server = ? AND key = ? ORDER BY id DESC')
  const every = db.prepare('SELECT * FROM calls ORDER BY id DESC')
  const isUnknown = (row: Record<string, unknown>): boolean => row['doubted'] === 1 || startOf(Number(row['pid'])) !== row['started']
  const callOf = ({ id, server, tool, input, at }: Record<string, unknown>): UnknownCall => ({
    ...{ id: Number(id), server: String(server), tool: String(tool), input: String(input), at: Number(at) },
  })
  return {
    intend({ server, tool, key, input }) {
      db.exec('PRAGMA synchronous = FULL')
      const { lastInsertRowid } = insert.run(server, tool, key, input, Date.now(), owner, started)
      // An end that is lost with the power leaves a call unknown that is known, which is harmless.
      db.exec('PRAGMA synchronous = NORMAL')
      return Number(lastInsertRowid)
    },
    settle: (id) => void remove.run(id),
    doubt: (id) => void mark.run(id),
    unknown: (server, key) => {
      const row = (byKey.all(server, key) as Record<string, unknown>[]).find(isUnknown)
      return row && callOf(row)
    },
    all: () => (every.all() as Record<string, unknown>[]).filter(isUnknown).map(callOf),
    close: () => db.close(),
  }
}

/**
 * Returns when a process started, in clock ticks since boot (field 22 of proc_pid_stat(5)), so that another process with its number is not
 * taken for it. Without `/proc` only whether it runs is known.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return process.platform === 'linux' || !isRunning(pid) ? undefined : ''
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
