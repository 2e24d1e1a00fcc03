/** The index of a vault: always up to date when it answers, and built anew if it is damaged. */
import { accessSync, constants } from 'node:fs'
import { posix } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { ToolFailure } from '@mulligan/core'
import { noteKey } from '../note/links.ts'
import { indexFile, isDamage, openDatabase, removeDatabase } from './database.ts'
import { prefixQuery, type SearchTerms, wholeQuery } from './query.ts'
import { createScanner, type ScanOptions } from './scan.ts'
import { watchFolders } from './watch.ts'

export interface NoteEntry {
  /** Relative to the vault, with forward slashes. */
  readonly path: string
  readonly title: string
  /** `#a #b` */
  readonly tags: string
  /** Milliseconds since 1970. */
  readonly mtime: number
}

export interface Filter {
  readonly folder?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

export interface Found {
  readonly count: number
  readonly notes: readonly NoteEntry[]
}

/** Seconds after which all files are looked at, in case the system has lost an event. */
const RESCAN = 60

export type NoteIndex = ReturnType<typeof createNoteIndex>

/**
 * @param root the vault's real path
 * @param dir the folder of the index
 * @param before called once, before the files are first looked at
 */
export function createNoteIndex(root: string, dir: string, before: () => Promise<void> = async () => undefined) {
  const watcher = watchFolders(root)
  let db: DatabaseSync | undefined
  let isReady = false
  let scannedAt = 0
  let last: Promise<unknown> = Promise.resolve()

  /** Runs `use` with the index, up to date. One at a time, because a scan pauses in the middle of its work. */
  function using<T>(use: (db: DatabaseSync) => T, options: ScanOptions = {}): Promise<T> {
    const mine = last
      .then(() => once(use, options))
      .catch(async (error) => {
        if (!isDamage(error)) throw error
        db?.close()
        db = undefined
        removeDatabase(indexFile(dir, root))
        return once(use, options)
      })
    last = mine.catch(() => undefined)
    return mine
  }

  async function once<T>(use: (db: DatabaseSync) => T, options: ScanOptions): Promise<T> {
    mustBeThere(root)
    if (!isReady) await before()
    isReady = true
    const isNew = db === undefined
    db ??= openDatabase(dir, root)
    const scanner = createScanner(db, root, watcher)
    const changed = isNew || Date.now() - scannedAt > RESCAN * 1000 ? undefined : await watcher.take()
    if (changed === undefined) {
      await scanner.scanAll(options)
      scannedAt = Date.now()
    } else if (changed.length > 0) await scanner.scanPaths(changed, options)
    return use(db)
  }

  const search = ({ terms, tags }: SearchTerms, filter: Filter, options?: ScanOptions): Promise<Found> =>
    using((open) => {
      const { sql, values } = conditions({ ...filter, tags: [...tags, ...(filter.tags ?? [])] })
      const prefix = prefixQuery(terms)
      const from = `FROM texts JOIN notes ON notes.id = texts.rowid WHERE texts MATCH ?${sql}`
      const count = open.prepare(`SELECT count(*) AS count ${from}`).get(prefix, ...values) as { readonly count: number }
      const rows =
        count.count === 0
          ? []
          : open
              .prepare(
                `SELECT path, notes.title, notes.tags, mtime ${from} ORDER BY texts.rowid IN (SELECT rowid FROM texts WHERE texts MATCH ?) DESC, bm25(texts, 10, 5, 1), path LIMIT ? OFFSET ?`,
              )
              .all(prefix, ...values, wholeQuery(terms), filter.limit, filter.offset)
      return { count: count.count, notes: rows as unknown as NoteEntry[] }
    }, options)

  /** Returns in how many notes each term occurs, as the beginning of a word. */
  const counts = (terms: readonly string[]): Promise<readonly number[]> =>
    using((open) => {
      const statement = open.prepare('SELECT count(*) AS count FROM texts WHERE texts MATCH ?')
      return terms.map((term) => (statement.get(prefixQuery([term])) as { readonly count: number }).count)
    })

  const list = (filter: Filter, sort: 'modified' | 'name', options?: ScanOptions): Promise<Found> =>
    using((open) => {
      const { sql, values } = conditions(filter)
      const from = `FROM notes WHERE 1${sql}`
      const { count } = open.prepare(`SELECT count(*) AS count ${from}`).get(...values) as { readonly count: number }
      const order = sort === 'name' ? 'path COLLATE NOCASE' : 'mtime DESC, path'
      const rows = open
        .prepare(`SELECT path, title, tags, mtime ${from} ORDER BY ${order} LIMIT ? OFFSET ?`)
        .all(...values, filter.limit, filter.offset)
      return { count, notes: rows as unknown as NoteEntry[] }
    }, options)

  /** Returns the notes that a name can mean: a path, the end of a path, a name, or an alias. */
  const named = (name: string, options?: ScanOptions): Promise<readonly string[]> =>
    using((open) => {
      const key = noteKey(name.replace(/^\/+/, ''))
      const byName = open.prepare('SELECT path FROM notes WHERE name = ?').all(posix.basename(key)) as unknown as NoteEntry[]
      const ends = byName.map(({ path }) => path).filter((path) => endsWith(path, key))
      const exact = ends.filter((path) => noteKey(path) === key)
      if (exact.length > 0) return exact
      if (ends.length > 0) return ends
      const aliased = open.prepare('SELECT path FROM aliases JOIN notes ON notes.id = note WHERE key = ? ORDER BY path').all(key)
      const titled = open.prepare('SELECT path FROM notes WHERE lower(title) = ? ORDER BY path LIMIT 20').all(key)
      return [...new Set(([...aliased, ...titled] as unknown as NoteEntry[]).map(({ path }) => path))]
    }, options)

  const names = (): Promise<readonly string[]> =>
    using((open) => (open.prepare('SELECT path FROM notes').all() as unknown as NoteEntry[]).map(({ path }) => path))

  const tags = (): Promise<readonly { readonly tag: string; readonly count: number }[]> =>
    using((open) => open.prepare('SELECT tag, count(*) AS count FROM tags GROUP BY tag ORDER BY count DESC, tag').all() as never)

  /** Returns the notes with a link to this one, as Obsidian resolves links. */
  const linking = (path: string, options?: ScanOptions): Promise<readonly string[]> =>
    using((open) => {
      const name = noteKey(posix.basename(path))
      const rows = open
        .prepare('SELECT path, key, kind FROM links JOIN notes ON notes.id = note WHERE links.name = ? ORDER BY path')
        .all(name) as unknown as { readonly path: string; readonly key: string; readonly kind: string }[]
      const all = (open.prepare('SELECT path FROM notes WHERE name = ?').all(name) as unknown as NoteEntry[]).map((one) => one.path)
      return [
        ...new Set(rows.filter(({ key, kind, path: source }) => resolvedLink(key, kind, source, all) === path).map((one) => one.path)),
      ]
    }, options)

  function close(): void {
    watcher.close()
    db?.close()
    db = undefined
  }

  return { search, counts, list, named, names, tags, linking, close }
}

/** A folder that is gone has no notes to search, which is not the same as finding none. @throws ToolFailure */
function mustBeThere(root: string): void {
  try {
    accessSync(root, constants.R_OK | constants.X_OK)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new ToolFailure(`The folder of notes can't be read (${code}). Is its disk mounted?`, { errorType: 'execution', cause: error })
  }
}

const endsWith = (path: string, key: string): boolean => noteKey(path) === key || noteKey(path).endsWith(`/${key}`)

/**
 * Returns the note that a link means, among those with its name: a Markdown link's path; for a wikilink the note at this path, otherwise one
 * in the same folder, otherwise the one nearest to the root.
 */
export function resolvedLink(key: string, kind: string, source: string, candidates: readonly string[]): string | undefined {
  const fits = candidates.filter((path) => endsWith(path, key))
  const exact = fits.find((path) => noteKey(path) === key)
  if (exact !== undefined || kind === 'markdown') return exact
  const depth = (path: string): number => path.split('/').length
  return fits.toSorted(
    (a, b) =>
      Number(posix.dirname(b) === posix.dirname(source)) - Number(posix.dirname(a) === posix.dirname(source)) ||
      depth(a) - depth(b) ||
      (a < b ? -1 : 1),
  )[0]
}

function conditions({ folder, tags = [] }: Pick<Filter, 'folder' | 'tags'>): { readonly sql: string; readonly values: readonly string[] } {
  const inFolder = folder === undefined ? '' : " AND substr(notes.path, 1, length(?) + 1) = ? || '/'"
  const tagged = tags.map(() => " AND notes.id IN (SELECT note FROM tags WHERE tag = ? OR substr(tag, 1, length(?) + 1) = ? || '/')")
  const values = [...(folder === undefined ? [] : [folder, folder]), ...tags.flatMap((tag) => [tag, tag, tag])]
  return { sql: inFolder + tagged.join(''), values }
}
