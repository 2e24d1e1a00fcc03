/** Brings the index up to date with the files: all of them, or those that changed. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { linkKey, noteKey } from '../note/links.ts'
import { parseNote } from '../note/parse.ts'
import type { Watcher } from './watch.ts'

/** Larger files are indexed by their name and beginning. */
const MAX_TEXT = 2_000_000
/** Files between two pauses, in which other work can go on. */
const BATCH = 250
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0

export const isNote = (name: string): boolean => /\.(?:md|markdown)$/i.test(name)
/** Hidden folders, such as those of Obsidian and git, hold no notes. */
export const isHidden = (name: string): boolean => name.startsWith('.') || name === 'node_modules'

export interface ScanOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of notes done, and of those to do. */
  readonly progress?: ((done: number, all: number) => void) | undefined
}

interface Known {
  readonly id: number
  readonly path: string
  readonly mtime: number
  readonly size: number
}

export function createScanner(db: DatabaseSync, root: string, watcher: Watcher) {
  const statements = {
    all: db.prepare('SELECT id, path, mtime, size FROM notes'),
    one: db.prepare('SELECT id, path, mtime, size FROM notes WHERE path = ?'),
    below: db.prepare("SELECT id, path, mtime, size FROM notes WHERE path = ?1 OR substr(path, 1, length(?1) + 1) = ?1 || '/'"),
    insert: db.prepare('INSERT INTO notes (path, name, title, tags, mtime, size) VALUES (?, ?, ?, ?, ?, ?)'),
    text: db.prepare('INSERT INTO texts (rowid, title, tags, body) VALUES (?, ?, ?, ?)'),
    tag: db.prepare('INSERT OR IGNORE INTO tags (tag, note) VALUES (?, ?)'),
    alias: db.prepare('INSERT OR IGNORE INTO aliases (key, note) VALUES (?, ?)'),
    link: db.prepare('INSERT OR IGNORE INTO links (name, note, key, kind) VALUES (?, ?, ?, ?)'),
    remove: [
      'DELETE FROM texts WHERE rowid = ?',
      'DELETE FROM tags WHERE note = ?',
      'DELETE FROM aliases WHERE note = ?',
      'DELETE FROM links WHERE note = ?',
      'DELETE FROM notes WHERE id = ?',
    ].map((sql) => db.prepare(sql)),
  }

  /** Looks at every file of the vault. @throws file system errors of the vault itself; the signal's reason */
  async function scanAll(options: ScanOptions): Promise<void> {
    const known = new Map((statements.all.all() as unknown as Known[]).map((one) => [one.path, one]))
    await update('', known, options)
  }

  /** Looks at these files and folders. */
  async function scanPaths(paths: readonly string[], options: ScanOptions): Promise<void> {
    for (const path of paths) {
      const known = new Map((statements.below.all(path) as unknown as Known[]).map((one) => [one.path, one]))
      await update(path, known, options)
    }
  }

  /** @param known what the index has of the path, by path */
  async function update(path: string, known: Map<string, Known>, { signal, progress }: ScanOptions): Promise<void> {
    const changed: string[] = []
    for await (const batch of found(path)) {
      signal?.throwIfAborted()
      for (const { path: file, mtime, size } of batch) {
        const before = known.get(file)
        if (before && before.mtime === mtime && before.size === size) known.delete(file)
        else changed.push(file)
      }
    }
    if (changed.length === 0 && known.size === 0) return
    for (let at = 0; at < Math.max(1, changed.length); at += BATCH) {
      signal?.throwIfAborted()
      db.exec('BEGIN IMMEDIATE')
      try {
        if (at === 0) for (const { id } of known.values()) remove(id)
        for (const file of changed.slice(at, at + BATCH)) add(file)
        db.exec('COMMIT')
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
      progress?.(Math.min(at + BATCH, changed.length), changed.length)
      await pause()
    }
  }

  function remove(id: number): void {
    for (const statement of statements.remove) statement.run(id)
  }

  /** Adds a note. One that can't be read is left out, and looked at again with the next scan. */
  function add(path: string): void {
    const read = readNote(join(root, path))
    if (!read) return
    // Another process may have added it.
    const there = statements.one.get(path) as Known | undefined
    if (there) remove(there.id)
    const { title = posix.basename(path).replace(/\.\w+$/, ''), tags, aliases, links, body } = parseNote(read.text)
    const spoken = tags.map((tag) => `#${tag}`).join(' ')
    const { lastInsertRowid } = statements.insert.run(path, noteKey(posix.basename(path)), title, spoken, read.mtime, read.size)
    const id = Number(lastInsertRowid)
    const name = posix.basename(path).replace(/\.\w+$/, '')
    statements.text.run(id, title === name ? name : `${title} ${name}`, `${spoken} ${aliases.join(' ')}`, body)
    for (const tag of tags) statements.tag.run(tag, id)
    for (const alias of aliases) statements.alias.run(noteKey(alias), id)
    for (const link of links) {
      const key = linkKey(link, path)
      if (key !== undefined) statements.link.run(posix.basename(key), id, key, link.kind)
    }
  }

  /** Walks a folder, or returns a single file. Links are not followed: they may lead out of the vault. */
  async function* found(start: string): AsyncGenerator<readonly Found[]> {
    let batch: Found[] = []
    const folders: string[] = []
    if (start === '') folders.push('')
    else {
      if (start.split('/').some(isHidden)) return
      const there = statsOf(join(root, start))
      if (there?.isDirectory()) folders.push(start)
      else if (there?.isFile() && isNote(start)) yield [{ path: start, mtime: there.mtimeMs, size: there.size }]
    }
    while (folders.length > 0) {
      const folder = folders.pop() as string
      watcher.add(folder)
      for (const entry of entriesOf(join(root, folder), folder === '')) {
        if (isHidden(entry.name)) continue
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory()) folders.push(path)
        else if (entry.isFile() && isNote(entry.name)) {
          const there = statsOf(join(root, path))
          if (there) batch.push({ path, mtime: there.mtimeMs, size: there.size })
        }
      }
      if (batch.length >= BATCH * 8) {
        yield batch
        batch = []
        await pause()
      }
    }
    yield batch
  }

  return { scanAll, scanPaths }
}

interface Found {
  readonly path: string
  readonly mtime: number
  readonly size: number
}

const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function statsOf(path: string) {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** @param isVault whether it is the vault itself, whose errors are told */
function entriesOf(path: string, isVault: boolean) {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (isVault) throw error
    return []
  }
}

/** Reads the beginning of a file without following a link. */
function readNote(path: string): { readonly text: string; readonly mtime: number; readonly size: number } | undefined {
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0))
    const { mtimeMs: mtime, size } = fstatSync(fd)
    const text = readFileSync(fd, 'utf8')
    return { text: text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text, mtime, size }
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
