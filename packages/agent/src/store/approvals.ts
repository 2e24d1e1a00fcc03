/** The questions of parked turns, and the keys of requests, in a database. */
import { randomUUID } from 'node:crypto'
import type { StoredAnswer } from '../parked.ts'
import type { Driver, SessionWrite, Value } from './driver.ts'
import type { createQueue } from './queue.ts'
import type { ApprovalRow, Store } from './store.ts'

/** Milliseconds for which the key of a request is kept. */
const KEPT = 86_400_000

interface Row {
  readonly question: string
  readonly answer: string | null
}

const APPROVALS = `SELECT id, session_id AS "sessionId", turn_id AS "turnId", call_id AS "callId", kind, hash, question, created_at AS "createdAt",
  status, answer FROM approvals`

type Parked = Pick<Store, 'park' | 'unpark' | 'approvals' | 'approval' | 'answer' | 'supersede' | 'settled' | 'reserve' | 'respond'>

export function storedApprovals(
  driver: Driver,
  queue: Pick<ReturnType<typeof createQueue>, 'add' | 'flush'>,
  read: <One>(sql: string, ...parameters: readonly Value[]) => Promise<readonly One[]>,
): Parked {
  const statusOf = (sessionId: string, turnId: string, status: string): SessionWrite => ({
    sessionId,
    sql: 'UPDATE turns SET status = ? WHERE id = ?',
    parameters: [status, turnId],
  })
  const rows = async (where: string, ...parameters: readonly Value[]): Promise<readonly ApprovalRow[]> =>
    (await read<Row>(`${APPROVALS} WHERE ${where}`, ...parameters)).map(
      ({ question, answer, ...row }) =>
        ({ ...row, question: JSON.parse(question), ...(answer !== null && { answer: withoutToken(JSON.parse(answer)) }) }) as ApprovalRow,
    )

  return {
    park: async (sessionId, turnId, approvals) => {
      queue.add(
        ...approvals.map(
          ({ id, callId, kind, hash, question, createdAt, status }): SessionWrite => ({
            sessionId,
            sql: 'INSERT INTO approvals (id, session_id, turn_id, call_id, kind, hash, question, created_at, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
            parameters: [id, sessionId, turnId, callId, kind, hash, JSON.stringify(question), createdAt, status],
          }),
        ),
        statusOf(sessionId, turnId, 'waiting'),
      )
      await queue.flush([sessionId], true)
    },
    unpark: async (sessionId, turnId) => {
      queue.add(statusOf(sessionId, turnId, 'running'))
      await queue.flush([sessionId])
    },
    approvals: ({ sessionId, turnId, status, limit = 1000 } = {}) => {
      const filters: readonly (readonly [string, Value])[] = [
        ...(sessionId === undefined ? [] : [['session_id = ?', sessionId] as const]),
        ...(turnId === undefined ? [] : [['turn_id = ?', turnId] as const]),
        ...(status === undefined ? [] : [['status = ?', status] as const]),
      ]
      const where = filters.length === 0 ? '1 = 1' : filters.map(([condition]) => condition).join(' AND ')
      return rows(`${where} ORDER BY seq LIMIT ?`, ...filters.map(([, value]) => value), limit)
    },
    approval: async (id) => (await rows('id = ?', id))[0],
    answer: async (id, answer) => {
      // The token makes the statement idempotent: it may run twice if the connection is lost.
      const given = JSON.stringify({ ...answer, token: randomUUID() })
      const changed = await driver.all(
        "UPDATE approvals SET status = 'answered', answer = ? WHERE id = ? AND (status = 'pending' OR answer = ?) RETURNING id",
        given,
        id,
        given,
      )
      return changed.length > 0
    },
    supersede: async (turnId) => {
      await driver.all(
        "UPDATE approvals SET status = 'answered', answer = ? WHERE turn_id = ? AND status = 'pending'",
        JSON.stringify({ answer: 'superseded' }),
        turnId,
      )
    },
    settled: (sessionId) => queue.flush([sessionId]),
    reserve: async (key, fingerprint) => {
      const at = Date.now()
      await driver.all('DELETE FROM requests WHERE at < ?', at - KEPT)
      const token = `${fingerprint} ${randomUUID()}`
      await driver.all('INSERT INTO requests (key, fingerprint, at) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING', key, token, at)
      const [row] = await driver.all<{ fingerprint: string; response: string | null }>(
        'SELECT fingerprint, response FROM requests WHERE key = ?',
        key,
      )
      if (row === undefined || row.fingerprint === token) return undefined
      const [known = ''] = row.fingerprint.split(' ')
      return { fingerprint: known, ...(row.response !== null && { response: row.response }) }
    },
    respond: async (key, response) => {
      if (response === undefined) await driver.all('DELETE FROM requests WHERE key = ?', key)
      else await driver.all('UPDATE requests SET response = ? WHERE key = ?', response, key)
    },
  }
}

function withoutToken({ token: _, ...answer }: StoredAnswer & { readonly token?: string }): StoredAnswer {
  return answer
}
