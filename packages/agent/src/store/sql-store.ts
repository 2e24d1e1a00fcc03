/**
 * The store on a database. Writes are queued and go to disk together, in order, at the next turn of the event loop; what must be
 * there before something happens (the intent before an effect) waits for the disk.
 */
import type { Compaction } from '../context/compaction.ts'
import { type JournalRow, recordedJournal } from '../journal/journal.ts'
import { claimSession, type FencedClaim } from './claim.ts'
import type { Driver, SessionWrite, Value } from './driver.ts'
import { joinHistory } from './history.ts'
import { createQueue } from './queue.ts'
import { fromCallRow, fromEventRow, fromMessageRow, readJson, toCallRow, toEventRow, toMessageRow } from './rows.ts'
import type { StoredCallRow, StoredEvent, StoredMessage, StoredSession, StoredTurn } from './schema.ts'
import { type SessionRow, SessionTakenOver, type Store, type TurnRow } from './store.ts'

export function sqlStore(driver: Driver): Store {
  const fences = new Map<string, number>()
  const queue = createQueue(driver, fences)

  async function read<Row>(sql: string, ...parameters: readonly Value[]): Promise<readonly Row[]> {
    await written()
    return driver.all<Row>(sql, ...parameters)
  }

  const written = (): Promise<void> =>
    queue.flush().catch((error: unknown) => {
      if (!(error instanceof SessionTakenOver)) throw error
    })

  async function claim(sessionId: string, takeOver?: boolean): Promise<FencedClaim> {
    const claimed = await claimSession(driver, sessionId, takeOver)
    if ('fence' in claimed) fences.set(sessionId, claimed.fence)
    return claimed
  }

  return {
    createSession: async ({ id, cwd, title }) => {
      const now = Date.now()
      queue.add({ ...insertSession(id, { id, cwd, title, created_at: now, updated_at: now, owner: null, lease_until: 0 }), eventId: 0 })
    },
    session: async (id) => (await read<StoredSession>(`${SESSIONS} WHERE id = ?`, id)).map(toSession)[0],
    sessions: async ({ cwd, idPrefix = '', before, limit = 50 } = {}) => {
      const filters: readonly (readonly [string, readonly Value[]])[] = [
        ...(cwd === undefined ? [] : [['cwd = ?', [cwd]] as const]),
        ...(before === undefined ? [] : [['updated_at < ?', [before]] as const]),
        ['substr(id, 1, ?) = ?', [idPrefix.length, idPrefix]],
      ]
      const where = filters.map(([condition]) => condition).join(' AND ')
      const rows = await read<StoredSession>(
        `${SESSIONS} WHERE ${where} ORDER BY updated_at DESC, id DESC LIMIT ?`,
        ...filters.flatMap(([, values]) => values),
        limit,
      )
      return rows.map(toSession)
    },
    deleteSession: async (id) => {
      if ((await read('SELECT id FROM sessions WHERE id = ?', id)).length === 0) return {}
      const claimed = await claim(id)
      if ('busy' in claimed) return claimed
      try {
        await driver.erase(id, deletionOf(id), new Map([[id, claimed.fence]]))
        fences.delete(id)
        return {}
      } finally {
        await claimed.release()
      }
    },
    claim: async (sessionId, { takeOver } = {}) => {
      await written()
      return claim(sessionId, takeOver)
    },
    startTurn: async ({ id, sessionId, prompt, model }, message) => {
      const now = Date.now()
      queue.add(
        insertTurn(sessionId, { id, session_id: sessionId, prompt, model, status: 'running', started_at: now }),
        insertPrompt(sessionId, toMessageRow(sessionId, message, now)),
        { sessionId, sql: 'UPDATE sessions SET updated_at = ? WHERE id = ?', parameters: [now, sessionId] },
      )
      await queue.flush([sessionId])
    },
    endTurn: async (outcome) => {
      const { sessionId, turnId, status, answer } = outcome
      const sql = 'UPDATE turns SET status = ?, answer = ?, outcome = ?, ended_at = ? WHERE id = ?'
      queue.add({ sessionId, sql, parameters: [status, answer, JSON.stringify(outcome), Date.now(), turnId] })
      await queue.flush([sessionId])
      driver.afterTurn()
    },
    lastTurn: async (sessionId) => {
      const sql = 'SELECT id, session_id, prompt, model, status FROM turns WHERE session_id = ? ORDER BY seq DESC LIMIT 1'
      return (await read<StoredTurn>(sql, sessionId)).map(toTurn)[0]
    },
    history: async (sessionId) => {
      const messages = await read<StoredMessage>(`${MESSAGES} WHERE session_id = ? ORDER BY seq`, sessionId)
      const calls = await driver.all<StoredCallRow>(`${CALLS} WHERE session_id = ? ORDER BY turn_id, step, ordinal`, sessionId)
      return joinHistory(messages.map(fromMessageRow), calls.map(fromCallRow))
    },
    saveMessage: async (sessionId, message) => {
      queue.add(insertMessage(sessionId, toMessageRow(sessionId, message, Date.now())))
      // A reply has cost seconds and money: it is not left to the next turn of the event loop.
      await queue.flush([sessionId])
    },
    saveCall: async (sessionId, turnId, record) => {
      queue.add(insertCall(sessionId, toCallRow(sessionId, turnId, record, Date.now())))
      // What became of an effect is known from now on, also if the process is killed at once.
      if (record.effect !== 'read' && record.attempts > 0) await queue.flush([sessionId])
    },
    append: async (events, durable) => {
      for (const event of events) queue.add({ ...insertEvent(event.sessionId, toEventRow(event)), eventId: event.id ?? 0 })
      if (durable) await queue.flush(new Set(events.map(({ sessionId }) => sessionId)), true)
    },
    events: async ({ sessionId, turnId, after = 0 }) => {
      const [where, values] =
        turnId === undefined ? ['session_id = ?', [sessionId]] : ['session_id = ? AND turn_id = ?', [sessionId, turnId]]
      const rows = await read<StoredEvent>(`${EVENTS} WHERE ${where} AND id > ? ORDER BY id`, ...values, after)
      const [callRows, messageRows] = [
        await driver.all<StoredCallRow>(`${CALLS} WHERE ${where}`, ...values),
        await driver.all<StoredMessage>(`${MESSAGES} WHERE ${where}`, ...values),
      ]
      const calls = new Map(callRows.map((row) => [row.id, fromCallRow(row)]))
      const messages = new Map(messageRows.map((row) => [row.id, fromMessageRow(row)]))
      return rows.map((row) => fromEventRow(row, calls, messages)).filter((event) => event !== undefined)
    },
    compaction: async (sessionId) => {
      const sql = `SELECT payload FROM events WHERE session_id = ? AND type = 'context.compacted' ORDER BY id DESC LIMIT 1`
      const [row] = await read<{ payload: string }>(sql, sessionId)
      return row && readJson<Compaction>(row.payload)
    },
    lastEventId: async (sessionId) => {
      const [row] = await read<{ id: number | null }>('SELECT max(id) AS id FROM events WHERE session_id = ?', sessionId)
      return Number(row?.id ?? 0)
    },
    journal: async (turnId, kept = []) => {
      const rows = await read<JournalRow>('SELECT name, value FROM steps WHERE turn_id = ?', turnId)
      return recordedJournal(rows, kept, (row) => queue.add(insertStep(sessionOf(turnId), { turn_id: turnId, ...row })))
    },
    close: async () => {
      await queue.flush().catch(() => undefined)
      await driver.close()
    },
  }
}

/** A turn is named after its session. */
const sessionOf = (turnId: string): string => turnId.slice(0, turnId.lastIndexOf('/'))

/** The statement for rows of one table. All bring the same columns in the same order. */
function inserting<Row extends object>(table: string, conflict = ''): (sessionId: string, row: Row) => SessionWrite {
  let sql: string | undefined
  return (sessionId, row) => {
    const columns = Object.keys(row)
    sql ??= `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${conflict}`
    return { sessionId, sql, parameters: Object.values(row) as Value[] }
  }
}

const insertSession = inserting<object>('sessions')
const insertTurn = inserting<StoredTurn & { started_at: number }>('turns')
const insertPrompt = inserting<StoredMessage>('messages', 'ON CONFLICT (id) DO NOTHING')
const insertMessage = inserting<StoredMessage>('messages', 'ON CONFLICT (id) DO UPDATE SET content = excluded.content')
const insertCall = inserting<StoredCallRow>(
  'calls',
  'ON CONFLICT (id) DO UPDATE SET result = excluded.result, attempts = excluded.attempts, duration_ms = excluded.duration_ms',
)
const insertEvent = inserting<StoredEvent>('events')
const insertStep = inserting<{ turn_id: string; name: string; value: string }>(
  'steps',
  'ON CONFLICT (turn_id, name) DO UPDATE SET value = excluded.value',
)

const SESSIONS = `SELECT id, cwd, title, created_at, updated_at, (SELECT count(*) FROM turns WHERE session_id = sessions.id) AS turns FROM sessions`
const MESSAGES = 'SELECT id, session_id, turn_id, step, role, content, created_at FROM messages'
const CALLS = `SELECT id, session_id, turn_id, step, ordinal, wire_id, tool, requested_tool, effect, target, input, attempts, repairs, result,
  duration_ms, created_at FROM calls`
const EVENTS = 'SELECT session_id, id, turn_id, type, payload, at FROM events'

/** All rows of a session, those that refer to others first. */
const deletionOf = (id: string): readonly SessionWrite[] =>
  [
    'steps WHERE turn_id IN (SELECT id FROM turns WHERE session_id = ?)',
    ...['events', 'calls', 'messages', 'turns'].map((table) => `${table} WHERE session_id = ?`),
    'sessions WHERE id = ?',
  ].map((rows) => ({ sessionId: id, sql: `DELETE FROM ${rows}`, parameters: [id] }))

const toSession = ({ id, cwd, title, created_at: createdAt, updated_at: updatedAt, turns }: StoredSession): SessionRow => ({
  id,
  cwd,
  title,
  createdAt,
  updatedAt,
  turns,
})

const toTurn = ({ id, session_id: sessionId, prompt, model, status }: StoredTurn): TurnRow => ({
  id,
  sessionId,
  prompt,
  model,
  status: status as TurnRow['status'],
})
