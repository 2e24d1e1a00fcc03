/** The index of a vault: a SQLite file in the data folder, which can be deleted at any time. */
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Increased when the tables or what is read of a note change; another version is built anew. */
const VERSION = 1

const TABLES = `
CREATE TABLE notes (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, title TEXT NOT NULL, tags TEXT NOT NULL, mtime REAL NOT NULL, size INTEGER NOT NULL);
CREATE INDEX notes_name ON notes (name);
CREATE INDEX notes_mtime ON notes (mtime);
CREATE TABLE aliases (key TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (key, note)) WITHOUT ROWID;
CREATE INDEX aliases_note ON aliases (note);
CREATE TABLE tags (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) WITHOUT ROWID;
CREATE INDEX tags_note ON tags (note);
CREATE TABLE links (name TEXT NOT NULL, note INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (name, note, key, kind)) WITHOUT ROWID;
CREATE INDEX links_note ON links (note);
CREATE VIRTUAL TABLE texts USING fts5 (title, tags, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
PRAGMA user_version = ${VERSION};
`

/** Returns the file of a vault's index. @param root the vault's real path */
export const indexFile = (dir: string, root: string): string =>
  join(dir, `${createHash('sha256').update(root).digest('hex').slice(0, 24)}.db`)

/** Opens the index, anew if it is damaged or of another version. */
export function openDatabase(dir: string, root: string): DatabaseSync {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const file = indexFile(dir, root)
  try {
    return prepared(file)
  } catch (error) {
    if (!isDamage(error)) throw error
    removeDatabase(file)
    return prepared(file)
  }
}

export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
}

function prepared(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 })
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000')
    const { user_version: version } = db.prepare('PRAGMA user_version').get() as { readonly user_version: number }
    if (version === VERSION) {
      // Reads a page of each table.
      db.exec("SELECT 1 FROM notes LIMIT 1; SELECT 1 FROM texts WHERE texts MATCH 'a' LIMIT 1")
      return db
    }
    db.exec(`BEGIN IMMEDIATE; ${version === 0 ? '' : DROP} ${TABLES} COMMIT`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const DROP = ['texts', 'links', 'tags', 'aliases', 'notes'].map((table) => `DROP TABLE IF EXISTS ${table};`).join(' ')

/** SQLite's result codes CORRUPT, NOTADB and ERROR, which a damaged index of words gives. */
const DAMAGED = new Set([1, 11, 26])

export const isDamage = (error: unknown): boolean =>
  DAMAGED.has(Number((error as { readonly errcode?: unknown } | undefined)?.errcode) & 0xff)
