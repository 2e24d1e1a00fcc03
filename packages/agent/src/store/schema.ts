/** The tables, and how an older store becomes this one. */
import type { Generated, Kysely } from 'kysely'
import { sql } from 'kysely'

export interface Database {
  sessions: {
    id: string
    cwd: string
    title: string
    created_at: number
    updated_at: number
    /** Who runs a turn of it now: `PID.START@HOST#CLAIM`. */
    owner: string | null
    /** Until when the owner is believed to live where that can't be seen. */
    lease_until: number
    /** Counts the claims. A write of an earlier claim is refused. */
    fence: Generated<number>
  }
  turns: {
    /** Order within the store: clocks go back. */
    seq: Generated<number>
    id: string
    session_id: string
    prompt: string
    model: string
    status: string
    answer: string | null
    outcome: string | null
    started_at: number
    ended_at: number | null
  }
  messages: {
    /** Order within the store. */
    seq: Generated<number>
    id: string
    session_id: string
    turn_id: string
    step: number
    role: 'user' | 'assistant'
    content: string
    created_at: number
  }
  calls: {
    id: string
    session_id: string
    turn_id: string
    step: number
    ordinal: number
    wire_id: string | null
    tool: string
    requested_tool: string | null
    effect: string
    target: string
    input: string
    attempts: number
    repairs: string
    result: string
    duration_ms: number
    created_at: number
  }
  events: { session_id: string; id: number; turn_id: string; type: string; payload: string; at: number }
  steps: { turn_id: string; name: string; value: string }
}

/** One statement list per version; `PRAGMA user_version` says how many have run. */
const VERSIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
       owner TEXT, lease_until INTEGER NOT NULL)`,
    `CREATE INDEX sessions_by_folder ON sessions (cwd, updated_at)`,
    `CREATE TABLE turns (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL REFERENCES sessions (id), prompt TEXT NOT NULL, model TEXT NOT NULL,
       status TEXT NOT NULL, answer TEXT, outcome TEXT, started_at INTEGER NOT NULL, ended_at INTEGER)`,
    `CREATE INDEX turns_by_session ON turns (session_id, seq)`,
    `CREATE TABLE messages (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, step INTEGER NOT NULL,
       role TEXT NOT NULL, content TEXT NOT NULL, created_at INTEGER NOT NULL)`,
    `CREATE INDEX messages_by_session ON messages (session_id, seq)`,
    `CREATE TABLE calls (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL, wire_id TEXT,
       tool TEXT NOT NULL, requested_tool TEXT, effect TEXT NOT NULL, target TEXT NOT NULL, input TEXT NOT NULL, attempts INTEGER NOT NULL,
       repairs TEXT NOT NULL, result TEXT NOT NULL, duration_ms REAL NOT NULL, created_at INTEGER NOT NULL)`,
    `CREATE INDEX calls_by_session ON calls (session_id, turn_id, step, ordinal)`,
    `CREATE TABLE events (session_id TEXT NOT NULL, id INTEGER NOT NULL, turn_id TEXT NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL, at INTEGER NOT NULL,
       PRIMARY KEY (session_id, id)) WITHOUT ROWID`,
    `CREATE TABLE steps (turn_id TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (turn_id, name)) WITHOUT ROWID`,
  ],
  [`ALTER TABLE sessions ADD COLUMN fence INTEGER NOT NULL DEFAULT 0`],
]

/** @throws Error when the store was written by a newer version */
export async function migrate(db: Kysely<Database>, path: string): Promise<void> {
  const { rows } = await sql<{ user_version: number }>`PRAGMA user_version`.execute(db)
  const version = rows[0]?.user_version ?? 0
  if (version > VERSIONS.length)
    throw new Error(
      `${path} was written by a newer Mulligan (store version ${version}, this one knows ${VERSIONS.length}). Update Mulligan.`,
    )
  if (version === VERSIONS.length) return
  await db.transaction().execute(async (trx) => {
    for (const statements of VERSIONS.slice(version)) for (const statement of statements) await sql.raw(statement).execute(trx)
    await sql.raw(`PRAGMA user_version = ${VERSIONS.length}`).execute(trx)
  })
}
