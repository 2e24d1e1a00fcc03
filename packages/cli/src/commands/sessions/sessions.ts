/** `mulligan sessions` lists, shows, renames, branches, exports, deletes and repairs sessions. */
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isPostgresUrl, NoStore, redact, repairStore, type SessionRow, type Store, type StoreRepair } from '@mulligan/agent'
import { type DataPaths, oneLine, safeJson, UsageError } from '@mulligan/host/light'
import { openStoreAt, readSettings, type Settings, storePlace } from '@mulligan/host/parts'
import { createChangeLog } from '@mulligan/tools'
import { fromHome, openDataDir, workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { findSession, latestSession } from '../../session.ts'
import { askInTerminal, isAttendedFor, isConfirmed } from '../../ui/ask.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, localTime, plural, print, table } from '../../ui/text.ts'
import { sessionUsage } from '../../ui/usage.ts'
import { branchAt } from './branch.ts'
import { conversationOf, markdownOf } from './conversation.ts'

export async function withStore<T>({ err }: Output, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStoreAt(openDataDir(), process.env, (text) => err(`mulligan: ${oneLine(text, 800)}\n`))
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

export interface ListFlags extends FolderFlags {
  /** Includes the sessions of every folder. */
  readonly all?: boolean
  readonly limit?: number
  /** Words that a session has in its title, prompts and answers. */
  readonly search?: string
}

const MAX_LISTED = 50
/** Maximum length of a title. */
export const MAX_TITLE = 100

/** @throws UsageError */
export async function listSessions(
  { cwd, json, all = false, search = '', limit = MAX_LISTED }: ListFlags,
  output: Output,
): Promise<number> {
  const folder = workingFolder(cwd)
  const found = await withStore(output, (store) => store.sessions({ ...(!all && { cwd: folder }), search, limit: limit + 1 }))
  const sessions = found.slice(0, limit)
  const rows = sessions.map(({ id, updatedAt, turns, title, cwd: at }) => [
    ...[id, localTime(updatedAt), String(turns)],
    ...(all ? [oneLine(fromHome(at), 50)] : []),
    oneLine(title, 60),
  ])
  print(
    output,
    json,
    {
      sessions: sessions.map(({ id, updatedAt: at, turns, title: prompt, cwd, snippet }) => ({
        ...{ id, at, turns, prompt, cwd },
        ...(snippet !== undefined && { snippet }),
      })),
    },
    rows.length === 0
      ? [search === '' ? (all ? 'There is no session yet.' : 'There are no sessions in this folder yet.') : 'No session has these words.']
      : table([['SESSION', 'WHEN', 'TURNS', ...(all ? ['FOLDER'] : []), 'PROMPT'], ...rows]).flatMap((line, at) => {
          const found = snippetText(sessions[at - 1])
          return found === '' ? [line] : [line, `    ${found}`]
        }),
  )
  if (!json && found.length > limit) output.err(`There are more: --limit ${limit * 2} shows twice as many.\n`)
  return EXIT.ok
}

/** What a search found, on one line; empty if the title already shows it. */
export function snippetText(session: SessionRow | undefined): string {
  const text = oneLine(session?.snippet ?? '', 200)
  return session && oneLine(session.title, 200).includes(text) ? '' : text
}

export interface SessionFlags extends FolderFlags {
  /** Selects the latest session of the folder. */
  readonly last?: boolean
}

/** @throws UsageError */
export async function sessionNamed(store: Store, id: string | undefined, { cwd, last = false }: SessionFlags): Promise<SessionRow> {
  const folder = workingFolder(cwd)
  if (id !== undefined && last) throw new UsageError('a session was named together with --last', 'Use only one of them.')
  if (id === undefined && !last)
    throw new UsageError(
      'no session was named',
      'Name one by its id, or the latest of this folder with --last. mulligan sessions lists them.',
    )
  return id === undefined ? latestSession(store, folder) : findSession(store, folder, id)
}

/** Changes the title of a session. @throws UsageError */
export async function renameSession(asked: string, title: string, flags: FolderFlags, output: Output): Promise<number> {
  const name = oneLine(title, MAX_TITLE)
  if (name === '') throw new UsageError('the new title is empty', 'mulligan sessions rename ID A NEW TITLE')
  const id = await withStore(output, async (store) => {
    const session = await sessionNamed(store, asked, flags)
    await store.updateSession(session.id, { title: name })
    return session.id
  })
  print(output, flags.json, { session: id, title: name }, [`Session ${id} is now ${JSON.stringify(name)}.`])
  return EXIT.ok
}

export interface BranchFlags extends SessionFlags {
  /** The number of the first message that is left out. */
  readonly at?: number
}

/** @throws UsageError */
export async function branchCommand(asked: string | undefined, flags: BranchFlags, output: Output): Promise<number> {
  const { from, id } = await withStore(output, async (store) => {
    const session = await sessionNamed(store, asked, flags)
    return { from: session.id, id: await branchAt(store, openDataDir(), session.id, flags.at) }
  })
  print(output, flags.json, { session: id, from }, [
    `A new session, ${id}; ${from} stays as it is.`,
    `To continue: mulligan chat --session ${id}`,
  ])
  return EXIT.ok
}

async function conversation(store: Store, id: string | undefined, flags: SessionFlags) {
  const session = await sessionNamed(store, id, flags)
  const events = await store.events({ sessionId: session.id })
  const turns = await createChangeLog({ dir: openDataDir().changes, root: session.cwd })
    .turns()
    .catch(() => [])
  const undone = new Set(turns.flatMap((one) => (one.undone ? [one.turn] : [])))
  const usage = await sessionUsage(store, session.id, modelSettings(session.cwd))
  const shown = { ...conversationOf(session, await store.history(session.id), events, undone), usage }
  return { id: session.id, events, markdown: markdownOf(shown), json: { ...session, usage, turns: shown.turns } }
}

/** Returns the settings that prices are in; a broken configuration has none. */
function modelSettings(cwd: string): Settings['models'] {
  try {
    return readSettings(cwd, {}, process.env).models
  } catch {
    return []
  }
}

/** @throws UsageError */
export async function showSession(id: string | undefined, flags: SessionFlags, output: Output): Promise<number> {
  const { json, markdown } = await withStore(output, (store) => conversation(store, id, flags))
  output.out(flags.json ? `${safeJson(json)}\n` : markdown)
  return EXIT.ok
}

export interface ExportFlags extends SessionFlags {
  /** Default: `md`. */
  readonly format?: 'md' | 'json' | 'jsonl'
  /** Default: stdout. */
  readonly output?: string
  /** Overwrites the output file. */
  readonly force?: boolean
}

const SECRET = /(?:KEY|TOKEN|SECRET|PASSWORD)$/i
const SHORTEST = 8

/** Returns the values of the environment's keys, tokens and passwords. */
export const secretsIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.entries(env).flatMap(([name, value = '']) => (SECRET.test(name) && value.length >= SHORTEST ? [value] : []))

/** Exports a session, removing API keys found in the environment wherever they occur. @throws UsageError */
export async function exportSession(asked: string | undefined, flags: ExportFlags, output: Output): Promise<number> {
  const { format = 'md', output: path = '-' } = flags
  const { id, json, markdown, events } = await withStore(output, (store) => conversation(store, asked, flags))
  const texts = {
    md: () => markdown,
    json: () => `${safeJson(json, 2)}\n`,
    jsonl: () => events.map((event) => `${safeJson(event)}\n`).join(''),
  }
  const text = redact(texts[format](), secretsIn(process.env))
  if (path === '-') output.out(text)
  else {
    writeTo(path, text, flags.force === true)
    output.err(`Session ${id} was written to ${path}.\n`)
  }
  return EXIT.ok
}

/** @param flag the flag that names the file @throws UsageError */
export function writeTo(path: string, text: string, overwrites: boolean, flag = '-o'): void {
  try {
    writeFileSync(resolve(path), text, { mode: 0o600, flag: overwrites ? 'w' : 'wx' })
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new UsageError(`${path} already exists`, 'Name another file, or add --force to overwrite it.')
    throw new UsageError(`${path} can't be written: ${code}`, `Name another file with ${flag}.`)
  }
}

export interface DeleteFlags extends FolderFlags {
  readonly yes?: boolean
  /** Age in milliseconds. */
  readonly olderThan?: number
  /** With `olderThan`: includes the sessions of every folder. */
  readonly all?: boolean
}

const MAX_NAMED = 10

/** Deletes sessions and everything stored for them. @returns 1 if one is in use, 130 if the user declined. @throws UsageError */
export async function deleteSessions(ids: readonly string[], flags: DeleteFlags, output: Output): Promise<number> {
  return withStore(output, async (store) => {
    const sessions = await chosen(store, ids, flags)
    if (sessions.length === 0) {
      print(output, flags.json, { deleted: [], busy: [] }, ['There is no session that old.'])
      return EXIT.ok
    }
    if (flags.yes !== true && !(await agreed(sessions, flags, output))) {
      output.err('Nothing was deleted.\n')
      return EXIT.cancelled
    }
    return remove(store, sessions, openDataDir(), flags, output)
  })
}

async function chosen(store: Store, ids: readonly string[], { cwd, olderThan, all = false }: DeleteFlags): Promise<readonly SessionRow[]> {
  const folder = workingFolder(cwd)
  if (all && olderThan === undefined) throw new UsageError('--all needs --older-than', 'Name the sessions, or use --older-than 30d --all.')
  if (ids.length > 0 && olderThan !== undefined)
    throw new UsageError('sessions were named together with --older-than', 'Use only one of them.')
  if (ids.length === 0 && olderThan === undefined)
    throw new UsageError('no session was named', 'Name them by their ids, or by age: --older-than 30d. mulligan sessions lists them.')
  if (olderThan !== undefined)
    return store.sessions({ ...(!all && { cwd: folder }), before: Date.now() - olderThan, limit: Number.MAX_SAFE_INTEGER })
  const found = new Map<string, SessionRow>()
  for (const id of ids) {
    const session = await findSession(store, folder, id)
    found.set(session.id, session)
  }
  return [...found.values()]
}

async function agreed(sessions: readonly SessionRow[], flags: DeleteFlags, { err }: Output): Promise<boolean> {
  const many = sessions.length === 1 ? 'this session' : `these ${sessions.length} sessions`
  if (!isAttendedFor(flags))
    throw new UsageError(
      `deleting ${many} needs confirmation, but nobody is there to confirm`,
      'Add --yes. Deleted sessions cannot be recovered.',
    )
  for (const { id, updatedAt, title } of sessions.slice(0, MAX_NAMED)) err(`  ${id}  ${localTime(updatedAt)}  ${oneLine(title, 60)}\n`)
  if (sessions.length > MAX_NAMED) err(`  … and ${sessions.length - MAX_NAMED} more\n`)
  const stop = new AbortController()
  return isConfirmed(
    askInTerminal(() => stop.abort()),
    `Delete ${many} for good? [y/N] `,
    stop.signal,
  )
}

async function remove(
  store: Store,
  sessions: readonly SessionRow[],
  data: DataPaths,
  { json }: DeleteFlags,
  output: Output,
): Promise<number> {
  const busy: { id: string; by: string }[] = []
  const deleted: string[] = []
  for (const { id } of sessions) {
    const { busy: by } = await store.deleteSession(id)
    if (by !== undefined) busy.push({ id, by })
    else {
      deleted.push(id)
      for (const left of filesLeft(id, data)) output.err(`Not removed: ${oneLine(fromHome(left), 300)}\n`)
    }
  }
  for (const { id, by } of busy) output.err(`Not deleted: session ${id} is in use by ${oneLine(by, 80)}.\n`)
  const many = deleted.length === 1 ? `session ${deleted[0]}` : `${deleted.length} sessions`
  print(output, json, { deleted, busy }, deleted.length > 0 ? [`Deleted ${many}.`] : [])
  return busy.length === 0 ? EXIT.ok : EXIT.failed
}

/** Removes files outside the store: spilled results and the model's notes. @returns the files that could not be removed */
function filesLeft(id: string, { output, state }: DataPaths): readonly string[] {
  // An id not in our format cannot name one of our files.
  if (!/^[\w-]+$/.test(id)) return []
  return [join(output, id), join(state, `${id}.json`), join(state, `${id}.json.broken`)].filter((path) => {
    try {
      rmSync(path, { recursive: true, force: true })
      return false
    } catch {
      return true
    }
  })
}

/** Creates a new store from the readable part of a damaged one. @throws UsageError if nothing can be read */
export async function repairSessions({ json }: FolderFlags, output: Output): Promise<number> {
  const { place: store } = storePlace(openDataDir(), process.env)
  if (isPostgresUrl(store))
    throw new UsageError(
      'the sessions are kept in PostgreSQL, and this repairs only files',
      'Restore a backup of the database: pg_restore.',
    )
  const repaired = await repairStore(store).catch((error: unknown): never => {
    throw new UsageError(
      `the store ${store} can't be repaired: ${(error as Error).message}`,
      error instanceof NoStore
        ? 'There is nothing to repair: the first session creates the store. If there was one, MULLIGAN_DATA_DIR may have changed.'
        : 'Close every mulligan that is running, or move the file away: the next session creates a new one.',
    )
  })
  print(output, json, repaired, repairLines(repaired))
  return EXIT.ok
}

function repairLines({ saved: { sessions, turns }, restored, damaged, kept }: StoreRepair): readonly string[] {
  const lost = damaged.length === 0 ? 'All of it could be read.' : `Part of these tables could not be read: ${damaged.join(', ')}.`
  const rows = Object.values(restored).reduce((sum, count) => sum + count, 0)
  const read = kept === undefined ? 'The store was missing.' : lost
  const backup = rows === 0 ? '' : ` From the backup: ${plural(rows, 'row')}.`
  const saved = `Saved ${plural(sessions, 'session')} and ${plural(turns, 'turn')}. ${read}${backup}`
  return [saved, ...(kept === undefined ? [] : [`The damaged file is kept in ${kept}`])]
}
