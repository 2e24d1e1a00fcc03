/**
 * The store on a database. Writes are queued and go to disk together, in order, at the next turn of the event loop; what must be
 * there before something happens (the intent before an effect) waits for the disk.
 */
import { recordedJournal } from '../journal/journal.ts'
import { claimSession, type FencedClaim } from './claim.ts'
import type { Driver, SessionWrite, Value } from './driver.ts'
import { joinHistory } from './history.ts'
import {
  callEntry,
  type Entries,
  entriesOf,
  eventEntry,
  type Kind,
  type LogRow,
  messageEntry,
  stepEntry,
  wholeEvents,
  wholeSteps,
} from './log.ts'
import { createQueue } from './queue.ts'
import type { StoredSession, StoredTurn } from './schema.ts'
import { type SessionRow, SessionTakenOver, type Store, type TurnRow } from './store.ts'

export function sqlStore(driver: Driver): Store {
  const fences = new Map<string, number>()
  /** By session, the turn that was started under the claim, as long as it has no steps. */
  const fresh = new Map<string, string>()
  const queue = createQueue(driver, fences)

  async function read<Row>(sql: string, ...parameters: readonly Value[]): Promise<readonly Row[]> {
    await written()
    return driver.all<Row>(sql, ...parameters)
  }

  /** @param turnId only of that turn */
  async function logOf(sessionId: string, kinds: readonly Kind[], turnId?: string): Promise<Entries> {
    const [where, values] = turnId === undefined ? ['', []] : [' AND turn_id = ?', [turnId]]
    const rows = await read<LogRow>(`SELECT turn_id, body FROM log WHERE session_id = ?${where} ORDER BY seq`, sessionId, ...values)
    return entriesOf(sessionId, rows, kinds)
  }

  const written = (): Promise<void> =>
    queue.flush().catch((error: unknown) => {
      if (!(error instanceof SessionTakenOver)) throw error
    })

  async function claim(sessionId: string, takeOver?: boolean): Promise<FencedClaim> {
    const claimed = await claimSession(driver, sessionId, takeOver)
    fresh.delete(sessionId)
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
        messageEntry(sessionId, message),
        { sessionId, sql: 'UPDATE sessions SET updated_at = ? WHERE id = ?', parameters: [now, sessionId] },
      )
      await queue.flush([sessionId])
      fresh.set(sessionId, id)
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
      const { messages, calls } = await logOf(sessionId, ['message', 'call'])
      return joinHistory([...messages.values()], calls)
    },
    saveMessage: async (sessionId, message) => {
      queue.add(messageEntry(sessionId, message))
      // A reply has cost seconds and money: it is not left to the next turn of the event loop.
      await queue.flush([sessionId])
    },
    saveCall: async (sessionId, turnId, record) => {
      queue.add(callEntry(sessionId, turnId, record))
      // What became of an effect is known from now on, also if the process is killed at once.
      if (record.effect !== 'read' && record.attempts > 0) await queue.flush([sessionId])
    },
    append: async (events, durable) => {
      queue.add(...events.map(eventEntry))
      if (durable) await queue.flush(new Set(events.map(({ sessionId }) => sessionId)), true)
    },
    events: async ({ sessionId, turnId, after = 0 }) =>
      wholeEvents(await logOf(sessionId, ['message', 'call', 'event'], turnId)).filter(({ id = 0 }) => id > after),
    compaction: async (sessionId) => {
      const sql = `SELECT turn_id, body FROM log WHERE session_id = ? AND body LIKE '%\tcontext.compacted\t%' ORDER BY seq DESC LIMIT 1`
      const rows = await read<LogRow>(sql, sessionId)
      return entriesOf(sessionId, rows, ['event']).events.findLast((event) => event.type === 'context.compacted')
    },
    lastEventId: async (sessionId) => {
      const [row] = await read<{ id: number | null }>('SELECT max(event_id) AS id FROM log WHERE session_id = ?', sessionId)
      return Number(row?.id ?? 0)
    },
    journal: async (turnId, kept = []) => {
      const sessionId = sessionOf(turnId)
      const steps = fresh.get(sessionId) === turnId ? [] : wholeSteps(await logOf(sessionId, ['event', 'step'], turnId))
      fresh.delete(sessionId)
      return recordedJournal(steps, kept, (name, value) => queue.add(stepEntry(sessionId, turnId, name, value, queue.queued())))
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
function inserting<Row extends object>(table: string): (sessionId: string, row: Row) => SessionWrite {
  let sql: string | undefined
  return (sessionId, row) => {
    const columns = Object.keys(row)
    sql ??= `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    return { sessionId, sql, parameters: Object.values(row) as Value[] }
  }
}

const insertSession = inserting<object>('sessions')
const insertTurn = inserting<StoredTurn & { started_at: number }>('turns')

const SESSIONS = `SELECT id, cwd, title, created_at, updated_at, (SELECT count(*) FROM turns WHERE session_id = sessions.id) AS turns FROM sessions`

/** All rows of a session, those that refer to others first. */
const deletionOf = (id: string): readonly SessionWrite[] =>
  ['log WHERE session_id = ?', 'turns WHERE session_id = ?', 'sessions WHERE id = ?'].map((rows) => ({
    sessionId: id,
    sql: `DELETE FROM ${rows}`,
    parameters: [id],
  }))

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
