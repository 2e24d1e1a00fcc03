/** The tables, and the upgrades from older versions. */
import { POSTGRES_INDEX, SQLITE_INDEX } from './search-index.ts'

/**
 * The rows of a session in the log are a range of its key: the session's number times this, plus the row's number. So a session needs
 * no index, and a new row changes few pages.
 */
export const ROWS = 2 ** 32

/** Joins a session and its rows. */
export const OF_SESSION = `log.seq > sessions.number * ${ROWS} AND log.seq < (sessions.number + 1) * ${ROWS}`

/** The number of a row's session, and the row's number within it. */
export const SESSION_NUMBER = `seq / ${ROWS}`
export const ROW_NUMBER = `seq % ${ROWS}`

/** The key of a row. */
export const keyOf = (row: string): string => `sessions.number * ${ROWS} + ${row}`

/** The number of a session's last row. */
export const LAST_ROW = `coalesce((SELECT max(seq) FROM log WHERE ${OF_SESSION}) - sessions.number * ${ROWS}, 0)`

/** The last event id of a session, or null. */
export const LAST_EVENT = `(SELECT event_id FROM log WHERE ${OF_SESSION} AND event_id IS NOT NULL ORDER BY seq DESC LIMIT 1)`

/** Events that change what is sent of a session. Their rows are marked, so that opening a session need not search all of its rows. */
export const MARKED: readonly string[] = ['context.compacted', 'session.rewound', 'session.restored']
export const MARK_COMPACTED = `UPDATE log SET compacted = 1 WHERE ${MARKED.map((type) => `body LIKE '%\t${type}\t%'`).join(' OR ')}`

/**
 * One list of statements per version, in SQLite's dialect. Since the third, the whole conversation is in the log, so that a commit
 * changes few pages.
 */
export const VERSIONS: readonly (readonly string[])[] = [
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
  [
    `CREATE TABLE log (seq INTEGER PRIMARY KEY, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, event_id INTEGER, body TEXT NOT NULL)`,
    `CREATE UNIQUE INDEX log_by_session ON log (session_id, event_id)`,
    `INSERT INTO log (session_id, turn_id, body) SELECT session_id, turn_id, 'message\t' || id || '\t' || content FROM messages ORDER BY seq`,
    `INSERT INTO log (session_id, turn_id, body) SELECT session_id, turn_id, 'call\t' || id || '\t{"id":' || json_quote(id) || ',"step":' || step
       || ',"ordinal":' || ordinal || CASE WHEN wire_id IS NULL THEN '' ELSE ',"wireId":' || json_quote(wire_id) END || ',"tool":' || json_quote(tool)
       || CASE WHEN requested_tool IS NULL THEN '' ELSE ',"requestedTool":' || json_quote(requested_tool) END || ',"input":' || input || ',"effect":' || json_quote(effect)
       || ',"target":' || json_quote(target) || ',"attempts":' || attempts || ',"repairs":' || repairs || ',"result":' || result
       || ',"durationMs":' || duration_ms || '}\t' || effect || '\t' || json_quote(tool) FROM calls ORDER BY turn_id, step, ordinal`,
    `INSERT INTO log (session_id, turn_id, event_id, body)
       SELECT session_id, turn_id, id, 'event\t' || id || '\t' || payload || '\t' || type || '\t' || at FROM events ORDER BY session_id, id`,
    `INSERT INTO log (session_id, turn_id, body)
       SELECT turns.session_id, turns.id, 'step\t' || name || '\t' || value FROM steps JOIN turns ON turns.id = steps.turn_id`,
    ...['messages', 'calls', 'events', 'steps'].map((table) => `DROP TABLE ${table}`),
  ],
  [
    `ALTER TABLE log ADD COLUMN compacted INTEGER`,
    MARK_COMPACTED,
    `CREATE INDEX log_compacted ON log (session_id, seq) WHERE compacted = 1`,
  ],
  [
    `CREATE TABLE numbered_sessions (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL, title TEXT NOT NULL, created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL, owner TEXT, lease_until INTEGER NOT NULL, fence INTEGER NOT NULL DEFAULT 0)`,
    `INSERT INTO numbered_sessions (id, cwd, title, created_at, updated_at, owner, lease_until, fence)
       SELECT id, cwd, title, created_at, updated_at, owner, lease_until, fence FROM sessions ORDER BY created_at, id`,
    `CREATE TABLE newer_turns (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL REFERENCES numbered_sessions (id), prompt TEXT NOT NULL,
       model TEXT NOT NULL, status TEXT NOT NULL, answer TEXT, outcome TEXT, started_at INTEGER NOT NULL, ended_at INTEGER)`,
    `INSERT INTO newer_turns (id, session_id, prompt, model, status, answer, outcome, started_at, ended_at)
       SELECT id, session_id, prompt, model, status, answer, outcome, started_at, ended_at FROM turns ORDER BY seq`,
    `CREATE TABLE newer_log (seq INTEGER NOT NULL PRIMARY KEY, turn_id TEXT NOT NULL, event_id INTEGER, body TEXT NOT NULL, compacted INTEGER)`,
    `INSERT INTO newer_log SELECT ${keyOf('seq')}, turn_id, event_id, body, compacted
       FROM numbered_sessions AS sessions JOIN log ON log.session_id = sessions.id ORDER BY 1`,
    ...['log', 'turns', 'sessions'].map((table) => `DROP TABLE ${table}`),
    `ALTER TABLE numbered_sessions RENAME TO sessions`,
    `ALTER TABLE newer_turns RENAME TO turns`,
    `ALTER TABLE newer_log RENAME TO log`,
    `CREATE INDEX sessions_by_folder ON sessions (cwd, updated_at)`,
    `CREATE INDEX turns_by_session ON turns (session_id, seq)`,
    `CREATE INDEX log_compacted ON log (compacted, seq) WHERE compacted = 1`,
  ],
  [
    `ALTER TABLE sessions ADD COLUMN settings TEXT`,
    `CREATE TABLE approvals (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL REFERENCES sessions (id), turn_id TEXT NOT NULL,
       call_id TEXT NOT NULL, kind TEXT NOT NULL, hash TEXT NOT NULL, question TEXT NOT NULL, created_at INTEGER NOT NULL, status TEXT NOT NULL, answer TEXT)`,
    `CREATE INDEX approvals_by_session ON approvals (session_id, seq)`,
    `CREATE INDEX approvals_pending ON approvals (seq) WHERE status = 'pending'`,
    `CREATE INDEX turns_open ON turns (session_id) WHERE status IN ('running', 'waiting')`,
    `CREATE TABLE requests (key TEXT NOT NULL PRIMARY KEY, fingerprint TEXT NOT NULL, response TEXT, at INTEGER NOT NULL)`,
  ],
  // The search index: each database has its own.
  [],
]
const SEARCH_VERSION = 7

/** Returns the statements of the versions after `from`, up to `to`. */
export const statementsFor = (database: 'sqlite' | 'postgres', from = 0, to = VERSIONS.length): readonly string[] => {
  const shared = VERSIONS.slice(from, to).flat()
  const own = from < SEARCH_VERSION && to >= SEARCH_VERSION
  if (database === 'sqlite') return own ? [...shared, ...SQLITE_INDEX] : shared
  return [...shared.map(forPostgres), ...(own ? POSTGRES_INDEX : [])]
}

/** Translates a statement for PostgreSQL: 64-bit numbers, and byte-wise text comparison as in SQLite. */
const forPostgres = (statement: string): string =>
  statement
    .replace('INTEGER PRIMARY KEY', 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY')
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bREAL\b/g, 'DOUBLE PRECISION')
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replace(/json_quote\((\w+)\)/g, 'to_json($1)::text')
    .replace(' WITHOUT ROWID', '')

/** The store was written by a newer Mulligan. */
export class NewerStore extends Error {
  constructor(place: string, version: number) {
    super(`${place} was written by a newer Mulligan (store version ${version}, this one knows ${VERSIONS.length}). Update Mulligan.`)
    this.name = 'NewerStore'
  }
}

/** Returns the statements that upgrade a store from this version. @throws NewerStore */
export function missingVersions(database: 'sqlite' | 'postgres', place: string, version: number): readonly string[] {
  if (version > VERSIONS.length) throw new NewerStore(place, version)
  return statementsFor(database, version)
}
