/** The questions of parked turns, and the keys of requests, in a database. */
import { randomUUID } from 'node:crypto'
import type { StoredAnswer } from '../parked.ts'
import { isAlive, LEASE, newOwner, RENEW_EVERY } from './claim.ts'
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

type Parked = Pick<
  Store,
  'park' | 'unpark' | 'approvals' | 'approval' | 'answer' | 'expire' | 'supersede' | 'settled' | 'reserve' | 'respond'
>

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
    expire: async (before) => {
      await driver.all("UPDATE approvals SET status = 'expired' WHERE status = 'pending' AND created_at < ?", before)
    },
    supersede: async (turnId) => {
      await driver.all(
        "UPDATE approvals SET status = 'answered', answer = ? WHERE turn_id = ? AND status = 'pending'",
        JSON.stringify({ answer: 'superseded' }),
        turnId,
      )
    },
    settled: (sessionId) => queue.flush([sessionId]),
    ...reservedRequests(driver),
  }
}

interface RequestRow {
  /** The fingerprint, a space, and the owner of the request. */
  readonly fingerprint: string
  readonly response: string | null
  readonly leased: number | boolean
}

/** A request is owned by the process that runs it; when that has ended, the next one with the same key takes it over. */
function reservedRequests({ all, host, now }: Driver): Pick<Store, 'reserve' | 'respond'> {
  const renewals = new Map<string, NodeJS.Timeout>()

  function isMine(key: string, mark: string): undefined {
    clearInterval(renewals.get(key))
    const renew = () => all(`UPDATE requests SET at = ${now} WHERE key = ? AND fingerprint = ?`, key, mark).catch(() => undefined)
    renewals.set(key, setInterval(renew, RENEW_EVERY).unref())
  }

  return {
    reserve: async (key, fingerprint) => {
      await all(`DELETE FROM requests WHERE at < ${now} - ${KEPT}`)
      const mark = `${fingerprint} ${newOwner(host)}`
      await all(`INSERT INTO requests (key, fingerprint, at) VALUES (?, ?, ${now}) ON CONFLICT (key) DO NOTHING`, key, mark)
      const [row] = await all<RequestRow>(`SELECT fingerprint, response, at + ${LEASE} > ${now} AS leased FROM requests WHERE key = ?`, key)
      if (row === undefined || row.fingerprint === mark) return isMine(key, mark)
      const [known = '', owner = ''] = row.fingerprint.split(/ (.*)/s)
      if (row.response !== null) return { fingerprint: known, response: row.response }
      if (known !== fingerprint || isAlive(owner, Boolean(row.leased), host)) return { fingerprint: known }
      // It may be ours already, if the answer was lost with the connection and the statement runs again.
      const taken = await all(
        `UPDATE requests SET fingerprint = ?, at = ${now} WHERE key = ? AND fingerprint IN (?, ?) AND response IS NULL RETURNING key`,
        mark,
        key,
        row.fingerprint,
        mark,
      )
      if (taken.length === 0) return { fingerprint: known }
      isMine(key, mark)
      return { fingerprint: known, isCutOff: true }
    },
    respond: async (key, response) => {
      clearInterval(renewals.get(key))
      renewals.delete(key)
      if (response === undefined) await all('DELETE FROM requests WHERE key = ?', key)
      else await all('UPDATE requests SET response = ? WHERE key = ?', response, key)
    },
  }
}

function withoutToken({ token: _, ...answer }: StoredAnswer & { readonly token?: string }): StoredAnswer {
  return answer
}
