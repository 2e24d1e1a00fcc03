/**
 * The full-text index of titles, prompts and answers, kept by the database itself: FTS5 with triggers in SQLite, an index of
 * PostgreSQL's own search there. The whole conversation is not searched: its log also holds what tools have read.
 */
import type { FindWord, Value, Write } from './driver.ts'
import { folded, type SearchWord } from './search.ts'

/** Characters of a text that are indexed. PostgreSQL refuses rows whose words take more than 1 MB. */
const INDEXED = 50_000

/** Rows of the index: 2 × `seq` is a prompt, 2 × `seq` + 1 an answer, and minus a session's number its title. */
const WORDS = 'search_words'
/** The rows of the index to be written anew. A row costs ten times as much when it is written in a transaction of its own. */
const DUE = 'search_due'

const trigger = (name: string, event: string, ...rows: readonly string[]): string =>
  `CREATE TRIGGER ${name} AFTER ${event} BEGIN ${rows.map((row) => `INSERT OR IGNORE INTO ${DUE} VALUES (${row});`).join(' ')} END`

/** Writes these rows of the index anew. @param rows a query for them */
function indexing(rows: string): readonly string[] {
  const indexed = (text: string, join: string): string =>
    `REPLACE INTO ${WORDS} (rowid, text) SELECT row, substr(${text}, 1, ${INDEXED}) FROM (${rows}) JOIN ${join} WHERE ${text} IS NOT NULL`
  return [
    `DELETE FROM ${WORDS} WHERE rowid IN (${rows})`,
    indexed('title', 'sessions ON number = -row AND row < 0'),
    indexed('prompt', 'turns ON seq = row / 2 AND row > 0 AND row % 2 = 0'),
    indexed('answer', 'turns ON seq = row / 2 AND row > 0 AND row % 2 = 1'),
    `DELETE FROM ${DUE} WHERE row IN (${rows})`,
  ]
}

/** Has the beginnings of words, too: the first letters of a search would otherwise be those of thousands of words, and hold up a server. */
export const SQLITE_INDEX: readonly string[] = [
  `CREATE VIRTUAL TABLE ${WORDS} USING fts5 (text, content='', contentless_delete=1, prefix='1 2 3', tokenize='unicode61 remove_diacritics 0')`,
  `CREATE TABLE ${DUE} (row INTEGER PRIMARY KEY)`,
  `INSERT INTO ${DUE} SELECT -number FROM sessions UNION ALL SELECT 2 * seq FROM turns UNION ALL SELECT 2 * seq + 1 FROM turns`,
  trigger('title_added', 'INSERT ON sessions', '-new.number'),
  trigger('title_changed', 'UPDATE OF title ON sessions', '-new.number'),
  trigger('title_removed', 'DELETE ON sessions', '-old.number'),
  trigger('turn_added', 'INSERT ON turns', '2 * new.seq', '2 * new.seq + 1'),
  trigger('answer_changed', 'UPDATE OF answer ON turns', '2 * new.seq + 1'),
  trigger('turn_removed', 'DELETE ON turns', '2 * old.seq', '2 * old.seq + 1'),
]

/** Returns a row if the index is not up to date. */
export const SQLITE_DUE = `SELECT row FROM ${DUE} LIMIT 1`

/** Brings some rows of the index up to date, in one transaction: as many as take 20 ms, since SQLite blocks the process. */
export const SQLITE_UPDATE: readonly string[] = indexing(`SELECT row FROM ${DUE} ORDER BY row LIMIT 1000`)

/** Writes the index anew, so that nothing of what was deleted is left in it: until then, it keeps the words and that they are deleted. */
export const SQLITE_FORGET: readonly string[] = [
  ...indexing(`SELECT row FROM ${DUE}`),
  `REPLACE INTO ${WORDS} (${WORDS}) VALUES ('optimize')`,
]

export const inSqlite: FindWord = (word) => {
  if (word.tokens.length === 0) return inTexts(word)
  const match = `"${word.tokens.join(' ')}"${word.isPrefix ? ' *' : ''}`
  const sql = `SELECT session_id AS session, seq AS turn FROM turns WHERE seq IN (SELECT rowid / 2 FROM ${WORDS} WHERE ${WORDS} MATCH ? AND rowid > 0)
    UNION ALL SELECT id, 0 FROM sessions WHERE number IN (SELECT -rowid FROM ${WORDS} WHERE ${WORDS} MATCH ? AND rowid < 0)`
  return { sql, parameters: [match, match] }
}

/**
 * What is no part of a word, for PostgreSQL, which would take `a/b.ts` for one word. The question mark is the only one that may not stand
 * in a statement.
 */
const SEPARATORS = '!"#$%&()*+,-./:;<=>@[\\]^_`{|}~“”‘’„«»…–—·•'
const wordsOf = (...texts: readonly string[]): string => {
  const whole = texts.map((text) => `left(${text}, ${INDEXED})`).join(" || ' ' || ")
  return `to_tsvector('simple', translate(${whole}, '''${SEPARATORS}' || chr(63), repeat(' ', ${SEPARATORS.length + 2})))`
}
const IN_TURN = wordsOf('prompt', "coalesce(answer, '')")
const IN_TITLE = wordsOf('title')

export const POSTGRES_INDEX: readonly string[] = [
  `CREATE INDEX turns_by_words ON turns USING gin (${IN_TURN})`,
  `CREATE INDEX sessions_by_words ON sessions USING gin (${IN_TITLE})`,
]

export const inPostgres: FindWord = (word) => {
  if (word.tokens.length === 0) return inTexts(word)
  const query = `${word.tokens.map((token) => `'${token}'`).join(' <-> ')}${word.isPrefix ? ':*' : ''}`
  const sql = `SELECT session_id AS session, seq AS turn FROM turns WHERE ${IN_TURN} @@ to_tsquery('simple', ?)
    UNION ALL SELECT id, 0 FROM sessions WHERE ${IN_TITLE} @@ to_tsquery('simple', ?)`
  return { sql, parameters: [query, query] }
}

/** Looks for a word that no index has, in all texts. */
function inTexts({ text }: SearchWord): Write {
  const like = `%${folded(text).replace(/[!%_]/g, '!$&')}%`
  const sql = `SELECT session_id AS session, seq AS turn FROM turns WHERE lower(prompt) LIKE ? ESCAPE '!' OR lower(coalesce(answer, '')) LIKE ? ESCAPE '!'
    UNION ALL SELECT id, 0 FROM sessions WHERE lower(title) LIKE ? ESCAPE '!'`
  return { sql, parameters: [like, like, like] }
}

/** More than any `seq`. */
const SEQ = 2 ** 40

/** Tables and expressions for a query of sessions that have all of some words. */
export interface SessionSearch {
  readonly with: string
  readonly join: string
  /** Columns `prompt` and `answer` of the latest turn with the most words. */
  readonly columns: string
  /** As in `Found`. */
  readonly rank: string
  /** The parameters of `with`. */
  readonly parameters: readonly Value[]
}

export function searchOf(words: readonly SearchWord[], find: FindWord): SessionSearch {
  const found = words.map(find)
  const hits = found.map(({ sql }, at) => `SELECT ${at} AS word, session, turn FROM (${sql}) AS hits_${at}`).join(' UNION ALL ')
  const all = words.length
  return {
    with: `WITH hits AS (${hits}),
      places AS (SELECT session, turn, count(DISTINCT word) AS words FROM hits GROUP BY session, turn),
      found AS (SELECT session, max(CASE WHEN turn = 0 THEN words ELSE 0 END) AS title_words, max(CASE WHEN turn > 0 THEN words * ${SEQ} + turn ELSE 0 END) AS best
        FROM places WHERE session IN (SELECT session FROM hits GROUP BY session HAVING count(DISTINCT word) = ${all}) GROUP BY session)`,
    join: 'JOIN found ON found.session = sessions.id',
    columns: ['prompt', 'answer'].map((column) => `(SELECT ${column} FROM turns WHERE seq = best % ${SEQ}) AS ${column}`).join(', '),
    rank: `CASE WHEN title_words = ${all} THEN 2 WHEN best >= ${all * SEQ} THEN 1 ELSE 0 END`,
    parameters: found.flatMap(({ parameters }) => parameters),
  }
}
