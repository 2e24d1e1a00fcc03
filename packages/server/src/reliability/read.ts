/** Reads the stored events of sessions and their tasks, and computes the reliability figures. */
import type { Store } from '@mulligan/agent'
import { createObserver } from './observe.ts'
import { type Reliability, type ReliabilityFilter, reliabilityOf } from './reliability.ts'

export interface ReliabilityQuery extends ReliabilityFilter {
  /** Milliseconds since 1970; inclusive. Default: everything. */
  readonly since?: number | undefined
  /** Exclusive. Default: everything. */
  readonly until?: number | undefined
  /** Only sessions of this folder. */
  readonly cwd?: string | undefined
  /** Only this session, with its tasks. */
  readonly session?: string | undefined
}

const MAX_SESSIONS = 1_000_000

export async function readReliability(store: Pick<Store, 'sessions' | 'events'>, query: ReliabilityQuery = {}): Promise<Reliability> {
  const { since = 0, until = Number.POSITIVE_INFINITY, cwd, session } = query
  const observer = createObserver({ since, until })
  const readAll = async (id: string): Promise<void> => {
    for (const event of await store.events({ sessionId: id })) observer.add(event)
    for (const task of await store.sessions({ idPrefix: `${id}/`, limit: MAX_SESSIONS }))
      for (const event of await store.events({ sessionId: task.id })) observer.add(event)
  }
  if (session !== undefined) await readAll(session)
  // `updatedAt` is when the last turn began, which may have run into the period.
  else
    for (const { id, createdAt, updatedAt } of await store.sessions({ ...(cwd !== undefined && { cwd }), limit: MAX_SESSIONS }))
      if (createdAt < until && updatedAt >= since - LONGEST_TURN) await readAll(id)
  return reliabilityOf(observer.end(), query)
}

const LONGEST_TURN = 7 * 24 * 3_600_000
