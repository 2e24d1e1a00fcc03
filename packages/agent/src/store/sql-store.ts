/**
 * The store on a database. Writes are queued and go to disk together, in order, at the next turn of the event loop; anything that must
 * be stored before something happens (the intent before an effect) waits for the disk.
 */
import type { AgentEvent } from '../events.ts'
import { recordedJournal } from '../journal/journal.ts'
import { currentCompaction, isRewind } from '../rewound.ts'
import { storedApprovals } from './approvals.ts'
import { type ClaimWrites, claimOf, claimSession, LEASE, liveOwner, RENEW_EVERY } from './claim.ts'
import type { Driver, SessionWrite, Value } from './driver.ts'
import { createHistoryCache } from './history-cache.ts'
import {
  callEntry,
  type Entries,
  entriesOf,
  eventEntry,
  type Kind,
  type LogRow,
  messageEntry,
  readJson,
  sessionOf,
  stepEntry,
  wholeEvents,
  wholeSteps,
} from './log.ts'
import { createQueue } from './queue.ts'
import { LAST_EVENT, LAST_ROW, OF_SESSION, ROW_NUMBER, ROWS } from './schema.ts'
import { snippetOf, wordsIn } from './search.ts'
import { searchOf } from './search-index.ts'
import { type SessionRow, SessionTakenOver, type Store, type TurnRow } from './store.ts'

type FencedClaim = { readonly fence: number; readonly release: () => Promise<void> } | { readonly busy: string }

export function sqlStore(driver: Driver): Store {
  const fences = new Map<string, number>()
  /** The last event id of each session written here. Another agent's late event must not take its place. */
  const lastIds = new Map<string, number>()
  /** The turn started under the current claim, by session, while it has no steps. */
  const fresh = new Map<string, string>()
  /** Creates the newest session, unless that is written already. */
  let creation: { readonly session: NewSession; readonly write: SessionWrite } | undefined
  /** The number of the last log row of each session claimed here. */
  const lastRows = new Map<string, number>()
  const queue = createQueue(driver, fences, lastRows)
  const histories = createHistoryCache(driver)

  async function read<Row>(sql: string, ...parameters: readonly Value[]): Promise<readonly Row[]> {
    await written()
    return driver.all<Row>(sql, ...parameters)
  }

  /** Reads the log of a session. @param turnId limits it to this turn @param since leaves out turns that ended before */
  async function logOf(sessionId: string, kinds: readonly Kind[], turnId?: string, since?: number): Promise<Entries> {
    const filters: readonly (readonly [string, readonly Value[]])[] = [
      ...(turnId === undefined ? [] : [[' AND turn_id = ?', [turnId]] as const]),
      ...(since === undefined ? [] : [[` AND turn_id NOT IN (${ENDED_BEFORE})`, [sessionId, since]] as const]),
    ]
    const where = filters.map(([sql]) => sql).join('')
    const values = filters.flatMap(([, parameters]) => parameters)
    const rows = await read<LogRow>(`${ROWS_OF} WHERE sessions.id = ?${where} ORDER BY seq`, sessionId, ...values)
    return entriesOf(sessionId, rows, kinds)
  }

  /** Reads the rows with events after this one. They refer to messages and calls of earlier rows, too. */
  async function entriesAfter(sessionId: string, after: number): Promise<Entries> {
    const rows = await read<LogRow>(ROWS_AFTER, sessionId, after)
    const { messages, calls } = await histories.entries(sessionId)
    return { ...entriesOf(sessionId, rows, ['event']), messages, calls }
  }

  /** Reads the events that change what is sent of a session, from the rows marked for them. */
  async function marked(sessionId: string): Promise<Entries['events']> {
    const rows = await read<LogRow>(`${ROWS_OF} WHERE sessions.id = ? AND compacted = 1 ORDER BY seq`, sessionId)
    return entriesOf(sessionId, rows, ['event']).events
  }

  const sessionRows = async <Row extends SessionRow>(sql: string, ...parameters: readonly Value[]): Promise<readonly Row[]> =>
    (await read<Row & { readonly settings: string | null }>(sql, ...parameters)).map(({ settings, ...row }) => ({
      ...(row as unknown as Row),
      ...(settings !== null && { settings: readJson<Record<string, unknown>>(settings) ?? {} }),
    }))

  const turnRows = async (sql: string, ...parameters: readonly Value[]): Promise<readonly TurnRow[]> =>
    (await read<TurnRow & { readonly endedAt: number | null; readonly answer: string | null }>(sql, ...parameters)).map(
      ({ endedAt, answer, ...row }) => ({ ...row, ...(endedAt !== null && { endedAt }), ...(answer !== null && { answer }) }),
    )

  const written = (): Promise<void> =>
    queue.flush().catch((error: unknown) => {
      if (!(error instanceof SessionTakenOver)) throw error
    })

  /** Claims a session in the statement that creates it, if that is still queued. */
  function claimOfNew(sessionId: string, owner: string) {
    if (creation?.session.id !== sessionId) return undefined
    const { session, write } = creation
    creation = undefined
    return queue.replace(write, insertSession(driver, session, owner)) ? { fence: 1, rows: 0 } : undefined
  }

  async function claimOfKnown(sessionId: string, writes: ClaimWrites, takeOver?: boolean) {
    await written()
    const claimed = await claimSession(driver, sessionId, writes, takeOver)
    if ('busy' in claimed) return claimed
    // A separate statement: the claim may have waited for the last write of the previous owner.
    const [last] = await driver.all<{ rows: number }>(`SELECT ${LAST_ROW} AS rows FROM sessions WHERE id = ?`, sessionId)
    return { ...claimed, rows: last?.rows ?? 0 }
  }

  async function claim(sessionId: string, takeOver?: boolean): Promise<FencedClaim> {
    const writes = claimOf(driver, sessionId)
    const claimed = claimOfNew(sessionId, writes.owner) ?? (await claimOfKnown(sessionId, writes, takeOver))
    if ('busy' in claimed) return claimed
    fresh.delete(sessionId)
    fences.set(sessionId, claimed.fence)
    lastRows.set(sessionId, claimed.rows)
    const { sql, parameters } = writes.renew
    const renewal = setInterval(() => driver.all(sql, ...parameters).catch(() => undefined), RENEW_EVERY)
    renewal.unref()
    return {
      fence: claimed.fence,
      release: async () => {
        clearInterval(renewal)
        queue.add(writes.release)
        await queue.flush([sessionId]).catch(() => undefined)
      },
    }
  }

  function addEvents(events: readonly AgentEvent[]): void {
    for (const event of events) {
      const { id = 0, sessionId } = event
      if (id <= (lastIds.get(sessionId) ?? 0)) throw new RangeError(`event ${id} of session ${sessionId} is in the store`)
      lastIds.set(sessionId, id)
      queue.add(eventEntry(event, queue.queued()))
    }
  }

  async function deleteSession(id: string): Promise<{ readonly busy?: string }> {
    if ((await read('SELECT id FROM sessions WHERE id = ?', id)).length === 0) return {}
    const claimed = await claim(id)
    if ('busy' in claimed) return claimed
    try {
      for (const task of await read<{ id: string }>('SELECT id FROM sessions WHERE substr(id, 1, ?) = ?', id.length + 1, `${id}/`))
        await deleteSession(task.id)
      await driver.erase(id, deletionOf(id), new Map([[id, claimed.fence]]))
      for (const known of [fences, lastIds, lastRows]) known.delete(id)
      histories.forget(id)
      return {}
    } finally {
      await claimed.release()
    }
  }

  return {
    ...storedApprovals(driver, queue, read),
    createSession: async ({ id, cwd, title, settings }) => {
      const session = { id, cwd, title, at: Date.now(), settings: settings === undefined ? null : JSON.stringify(settings) }
      creation = { session, write: insertSession(driver, session, null) }
      queue.add(creation.write)
    },
    updateSession: async (id, { title, settings }) => {
      await written()
      // Not fenced: another process may run a turn of the session meanwhile.
      if (title !== undefined) await driver.all('UPDATE sessions SET title = ? WHERE id = ?', title, id)
      if (settings !== undefined) await driver.all('UPDATE sessions SET settings = ? WHERE id = ?', JSON.stringify(settings), id)
    },
    session: async (id) => (await sessionRows(`${SESSIONS} WHERE id = ?`, id))[0],
    sessions: async ({
      cwd,
      idPrefix = '',
      before,
      since,
      withTasks = idPrefix.includes('/'),
      search = '',
      limit = 50,
      offset = 0,
    } = {}) => {
      const filters: readonly (readonly [string, readonly Value[]])[] = [
        ...(cwd === undefined ? [] : [['cwd = ?', [cwd]] as const]),
        ...(before === undefined ? [] : [['updated_at < ?', [before]] as const]),
        ...(since === undefined ? [] : [['updated_at >= ?', [since]] as const]),
        ['substr(id, 1, ?) = ?', [idPrefix.length, idPrefix]],
        // Those of tasks belong to the session that gave them.
        ...(withTasks ? [] : [["id NOT LIKE '%/%'", []] as const]),
      ]
      const where = filters.map(([condition]) => condition).join(' AND ')
      const values = [...filters.flatMap(([, values]) => values), limit, offset]
      const latest = 'updated_at DESC, id DESC LIMIT ? OFFSET ?'
      const words = wordsIn(search)
      if (words.length === 0) return sessionRows(`${SESSIONS} WHERE ${where} ORDER BY ${latest}`, ...values)
      await written()
      await driver.updateSearch?.()
      const found = searchOf(words, driver.findWord)
      const rows = await sessionRows<SessionRow & { readonly prompt: string | null; readonly answer: string | null }>(
        `${found.with} SELECT ${SESSION}, ${found.columns} FROM sessions ${found.join} WHERE ${where} ORDER BY ${found.rank} DESC, ${latest}`,
        ...[...found.parameters, ...values],
      )
      return rows.map(({ prompt, answer, ...row }) => {
        const snippet = snippetOf([prompt ?? '', answer ?? ''], words)
        return { ...row, ...(snippet !== undefined && { snippet }) }
      })
    },
    deleteSession,
    claim: (sessionId, { takeOver } = {}) => claim(sessionId, takeOver),
    claimed: (sessionId) => liveOwner(driver, sessionId),
    startTurn: async ({ id, sessionId, prompt, model }, message, events = []) => {
      const now = Date.now()
      addEvents(events)
      queue.add(
        {
          sessionId,
          sql: 'INSERT INTO turns (id, session_id, prompt, model, status, started_at) VALUES (?, ?, ?, ?, ?, ?)',
          parameters: [id, sessionId, prompt, model, 'running', now],
        },
        messageEntry(sessionId, message),
        { sessionId, sql: 'UPDATE sessions SET updated_at = ? WHERE id = ?', parameters: [now, sessionId] },
      )
      await queue.flush([sessionId])
      fresh.set(sessionId, id)
    },
    endTurn: async (outcome, events = []) => {
      const { sessionId, turnId, status, answer } = outcome
      addEvents(events)
      const sql = 'UPDATE turns SET status = ?, answer = ?, outcome = ?, ended_at = ? WHERE id = ?'
      queue.add({ sessionId, sql, parameters: [status, answer, JSON.stringify(outcome), Date.now(), turnId] })
      await queue.flush([sessionId])
      driver.afterTurn()
    },
    lastTurn: async (sessionId) => {
      return (await turnRows(`${TURNS} WHERE session_id = ? ORDER BY seq DESC LIMIT 1`, sessionId))[0]
    },
    turns: (sessionId) => turnRows(`${TURNS} WHERE session_id = ? ORDER BY seq`, sessionId),
    resumableTurns: () => turnRows(`${TURNS} WHERE ${RESUMABLE}`),
    history: async (sessionId) => {
      await written()
      return histories.history(sessionId)
    },
    saveMessage: async (sessionId, message) => {
      queue.add(messageEntry(sessionId, message))
      // A reply costs seconds and money, so do not wait for the next turn of the event loop.
      await queue.flush([sessionId])
    },
    saveCall: async (sessionId, turnId, record) => {
      queue.add(callEntry(sessionId, turnId, record))
      // The outcome of an effect must survive even if the process is killed right after this.
      if (record.effect !== 'read' && record.attempts > 0) await queue.flush([sessionId])
    },
    append: async (events, durable) => {
      addEvents(events)
      if (durable) await queue.flush(new Set(events.map(({ sessionId }) => sessionId)), true)
    },
    events: async ({ sessionId, turnId, after = 0, since }) => {
      const isPart = after > 0 && since === undefined
      const entries = isPart ? await entriesAfter(sessionId, after) : await logOf(sessionId, ['message', 'call', 'event'], turnId, since)
      return wholeEvents(entries).filter((event) => (event.id ?? 0) > after && (turnId === undefined || event.turnId === turnId))
    },
    compaction: async (sessionId) => currentCompaction(await marked(sessionId)),
    rewinds: async (sessionId) => (await marked(sessionId)).filter(isRewind),
    branch: async (sessionId, { id, turns }) => {
      await written()
      await driver.write(branchOf(driver, sessionId, id, turns), new Map(), true)
    },
    lastEventId: async (sessionId) => {
      const [row] = await read<{ last: number | null }>(`SELECT ${LAST_EVENT} AS last FROM sessions WHERE id = ?`, sessionId)
      const last = Math.max(Number(row?.last ?? 0), lastIds.get(sessionId) ?? 0)
      lastIds.set(sessionId, last)
      return last
    },
    journal: async (turnId, kept = []) => {
      const sessionId = sessionOf(turnId)
      const steps = fresh.get(sessionId) === turnId ? [] : wholeSteps(await logOf(sessionId, ['call', 'event', 'step'], turnId))
      fresh.delete(sessionId)
      return recordedJournal(steps, kept, (name, value) => queue.add(stepEntry(sessionId, turnId, name, value, queue.queued())))
    },
    close: async () => {
      await queue.flush().catch(() => undefined)
      await driver.close()
    },
  }
}

interface NewSession {
  readonly id: string
  readonly cwd: string
  readonly title: string
  readonly at: number
  /** JSON. */
  readonly settings: string | null
}

/** Creates a session. @param owner claims it too */
const insertSession = ({ now }: Driver, { id, cwd, title, at, settings }: NewSession, owner: string | null): SessionWrite => ({
  sessionId: id,
  sql: `INSERT INTO sessions (id, cwd, title, created_at, updated_at, owner, lease_until, fence, settings) VALUES (?, ?, ?, ?, ?, ?, ${now} + ${LEASE}, ?, ?)`,
  parameters: [id, cwd, title, at, at, owner, owner === null ? 0 : 1, settings],
  creates: true,
})

const ENDED_BEFORE = 'SELECT id FROM turns WHERE session_id = ? AND ended_at < ?'
const ROWS_OF = `SELECT turn_id, body FROM sessions JOIN log ON ${OF_SESSION}`
const ROWS_AFTER = `${ROWS_OF} WHERE sessions.id = ?
  AND log.seq > coalesce((SELECT seq FROM log WHERE ${OF_SESSION} AND event_id <= ? ORDER BY seq DESC LIMIT 1), 0) ORDER BY seq`
const SESSION = `id, cwd, title, created_at AS "createdAt", updated_at AS "updatedAt", settings, (SELECT count(*) FROM turns WHERE session_id = sessions.id) AS turns`
const SESSIONS = `SELECT ${SESSION} FROM sessions`

const TURNS = `SELECT id, session_id AS "sessionId", prompt, model, status, answer, started_at AS "startedAt", ended_at AS "endedAt" FROM turns`

const RESUMABLE = `status IN ('running', 'waiting') AND session_id IN (SELECT id FROM sessions WHERE settings IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.session_id = turns.session_id AND turn_id = turns.id AND approvals.status = 'pending')`

/** Returns the statements that delete all rows of a session, referring rows first. */
const deletionOf = (id: string): readonly SessionWrite[] =>
  [
    `log WHERE seq IN (SELECT seq FROM sessions JOIN log ON ${OF_SESSION} WHERE id = ?)`,
    'approvals WHERE session_id = ?',
    'turns WHERE session_id = ?',
    'sessions WHERE id = ?',
  ].map((rows) => ({
    sessionId: id,
    sql: `DELETE FROM ${rows}`,
    parameters: [id],
  }))

/** Returns the statements that copy turns to a new session. Ids and paths that contain the session's id get the new one. */
function branchOf({ now }: Driver, from: string, to: string, turns: readonly string[]): readonly SessionWrite[] {
  const at = Date.now()
  const marks = turns.map(() => '?').join(', ')
  const renamed = (column: string): string =>
    `replace(replace(${column}, CAST(? AS TEXT), CAST(? AS TEXT)), CAST(? AS TEXT), CAST(? AS TEXT))`
  const names = [`${from}/`, `${to}/`, `"sessionId":"${from}"`, `"sessionId":"${to}"`]
  const log = `INSERT INTO log (seq, turn_id, event_id, body, compacted)
    SELECT (SELECT number FROM sessions WHERE id = ?) * ${ROWS} + log.${ROW_NUMBER}, ${renamed('turn_id')}, event_id, ${renamed('body')}, compacted
    FROM sessions JOIN log ON ${OF_SESSION} WHERE sessions.id = ? AND turn_id IN (${marks})`
  return [
    {
      sql: `INSERT INTO sessions (id, cwd, title, created_at, updated_at, lease_until, fence, settings) SELECT CAST(? AS TEXT), cwd, title, CAST(? AS BIGINT), CAST(? AS BIGINT), ${now}, 0, settings FROM sessions WHERE id = ?`,
      parameters: [to, at, at, from],
      creates: true as const,
    },
    {
      sql: `INSERT INTO turns (id, session_id, prompt, model, status, answer, outcome, started_at, ended_at)
        SELECT ${renamed('id')}, CAST(? AS TEXT), prompt, model, status, answer, ${renamed('outcome')}, started_at, ended_at FROM turns WHERE id IN (${marks}) ORDER BY seq`,
      parameters: [...names, to, ...names, ...turns],
    },
    { sql: log, parameters: [to, ...names, ...names, from, ...turns] },
  ].map((write) => ({ ...write, sessionId: to }))
}
