/**
 * Records the last event of each session in a file beside a SQLite store, with at most one line per {@link INTERVAL}. If a `-wal` file
 * is removed or an older copy of the store is put in its place, the database is still valid; this file reveals the loss.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { backupsOf } from './backup.ts'
import type { SessionWrite, Value } from './driver.ts'
import { LAST_EVENT } from './schema.ts'

/** Number of sessions kept when the file is rewritten. */
const MAX_SESSIONS = 20
const MAX_BYTES = 64_000
/** Minimum milliseconds between lines for events that a power failure may lose anyway. */
const INTERVAL = 100
/** Stands for an event id: the session was deleted. */
const DELETED = -1

type Read = <Row>(sql: string, parameters: readonly Value[]) => readonly Row[]

const lastEventsOf = (path: string): string => `${path}.last-events`

/** Opens the file and compares it with the store. @param onWarning called at once if the store has lost writes; once per loss */
export function openLastEvents(path: string, read: Read, onWarning: (text: string) => void) {
  const file = lastEventsOf(path)
  let fd: number | undefined
  let size = 0

  const recorded = recordedIn(file)
  size = recorded.size
  const stored = storedOf([...recorded.last.keys()], read)
  const missing = stored ? missingOf(recorded.last, stored) : []
  if (missing.length > 0) onWarning(warningText(path, missing))
  if (stored && (missing.length > 0 || size > MAX_BYTES)) rewrite(stored)

  /** Appends lines. Nothing depends on them, so a full disk is not a reason to stop. */
  function add(lines: string): void {
    try {
      fd ??= openSync(file, 'a', 0o600)
      size += writeSync(fd, lines)
    } catch {
      // Detecting losses is only a convenience.
    }
  }

  /** Rewrites the file in place, since other processes have it open too. */
  function rewrite(last: ReadonlyMap<string, number>): void {
    try {
      fd ??= openSync(file, 'a', 0o600)
      ftruncateSync(fd)
      size = 0
    } catch {
      return
    }
    add([...last].slice(-MAX_SESSIONS).map(lineOf).join(''))
  }

  const last = new Map<string, number>()
  let flushed = 0
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (last.size === 0) return
    flushed = performance.now()
    if (size > MAX_BYTES) rewrite(new Map([...recordedIn(file).last, ...last]))
    else add([...last].map(lineOf).join(''))
    last.clear()
  }

  return {
    /** Records a committed batch. */
    record(batch: readonly SessionWrite[], durable: boolean): void {
      let isNew = false
      for (const { sessionId, eventId, creates } of batch) {
        if (eventId !== undefined || creates) last.set(sessionId, eventId ?? 0)
        isNew ||= creates === true
      }
      if (durable || isNew || performance.now() - flushed > INTERVAL) flush()
      else timer ??= setTimeout(flush, INTERVAL).unref()
    },
    forget: (sessionId: string): void => {
      last.delete(sessionId)
      add(lineOf([sessionId, DELETED]))
    },
    close: (): void => {
      flush()
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

const lineOf = (entry: readonly [string, number]): string => `${JSON.stringify(entry)}\n`

/** Reads the most recently written sessions, latest last. */
function recordedIn(file: string): { readonly last: ReadonlyMap<string, number>; readonly size: number } {
  const last = new Map<string, number>()
  try {
    if (statSync(file).size > 16 * MAX_BYTES) return { last, size: Number.POSITIVE_INFINITY }
    const text = readFileSync(file, 'utf8')
    for (const line of text.split('\n')) {
      const [id, event] = entryOf(line)
      if (id === undefined) continue
      const before = last.get(id) ?? 0
      last.delete(id)
      if (event !== DELETED) last.set(id, Math.max(before, event))
    }
    return { last: new Map([...last].slice(-MAX_SESSIONS)), size: text.length }
  } catch {
    return { last, size: 0 }
  }
}

function entryOf(line: string): readonly [string, number] | readonly [undefined] {
  try {
    const [id, event] = JSON.parse(line) as [unknown, unknown]
    return typeof id === 'string' && typeof event === 'number' ? [id, event] : [undefined]
  } catch {
    return [undefined]
  }
}

/** Returns the last event ids in the store; undefined if that part is damaged, which is reported by whatever needs it. */
function storedOf(ids: readonly string[], read: Read): ReadonlyMap<string, number> | undefined {
  const sql = `SELECT id, ${LAST_EVENT} AS last FROM sessions WHERE id = ?`
  try {
    const rows = ids.flatMap((id) => read<{ id: string; last: number | null }>(sql, [id]))
    return new Map(rows.map(({ id, last }) => [id, last ?? 0]))
  } catch {
    return undefined
  }
}

interface Missing {
  readonly sessionId: string
  /** Number of missing events; undefined if the session itself is missing. */
  readonly events?: number
}

function missingOf(recorded: ReadonlyMap<string, number>, stored: ReadonlyMap<string, number>): readonly Missing[] {
  return [...recorded].flatMap(([sessionId, last]): Missing[] => {
    const known = stored.get(sessionId)
    if (known === undefined) return [{ sessionId }]
    return known < last ? [{ sessionId, events: last - known }] : []
  })
}

const MAX_NAMED = 3

function warningText(path: string, missing: readonly Missing[]): string {
  const named = missing
    .slice(0, MAX_NAMED)
    .map(({ sessionId, events }) =>
      events === undefined ? `session ${sessionId}` : `the last ${events === 1 ? 'event' : `${events} events`} of session ${sessionId}`,
    )
  const more = missing.length > MAX_NAMED ? [`parts of ${missing.length - MAX_NAMED} more sessions`] : []
  const [backup] = backupsOf(path).flatMap((file) => statSync(file, { throwIfNoEntry: false }) ?? [])
  const help = backup
    ? `\`mulligan sessions repair\` restores what the backup of ${backup.mtime.toISOString().slice(0, 16).replace('T', ' ')} UTC has of it.`
    : 'There is no backup of it yet.'
  return `The store ${path} lost its latest writes. Missing: ${[...named, ...more].join(', ')}. A power failure does this, or a ${path}-wal that was removed, or an older copy of the file. ${help}`
}
