/** Reads the stored events of sessions and their tasks in a period, and computes the reliability figures. */
import { setImmediate } from 'node:timers/promises'
import type { AgentEvent, SessionRow, Store } from '@mulligan/agent'
import { createObserver } from './observe.ts'
import { type Reliability, type ReliabilityFilter, reliabilityOf } from './reliability.ts'
import { slimEvent } from './slim.ts'

export interface ReliabilityQuery extends ReliabilityFilter {
  /** Milliseconds since 1970; inclusive. Default: 30 days before `until`; of a single session, everything. */
  readonly since?: number | undefined
  /** Exclusive. Default: now. */
  readonly until?: number | undefined
  /** Only sessions of this folder. */
  readonly cwd?: string | undefined
  /** Only this session, with its tasks. */
  readonly session?: string | undefined
}

type ReliabilityStore = Pick<Store, 'sessions' | 'session' | 'events' | 'lastEventId'>

const DAY = 24 * 3_600_000
export const DEFAULT_PERIOD = 30 * DAY
/** `updatedAt` is when the last turn began, which may have run into the period. */
const LONGEST_TURN = 7 * DAY
/** A call may end after its turn. */
const LATEST_RESULT = DAY
const MAX_SESSIONS = 1_000_000
/** Events that are kept between two reports, about 60 MB. */
const MAX_EVENTS = 300_000

interface Kept {
  /** The last event of the session when it was read. */
  readonly last: number
  /** Turns that ended before were left out. */
  readonly since: number
  readonly events: readonly AgentEvent[]
}

/** Reads the sessions of the period only, and of them only turns of the period. */
export const readReliability = (store: ReliabilityStore, query: ReliabilityQuery = {}): Promise<Reliability> =>
  createReliabilityReader(store)(query)

/**
 * Creates a reader that keeps what it has read, so that the next report reads only sessions that have changed.
 * @param maxEvents events after which the sessions read least recently are forgotten
 */
export function createReliabilityReader(
  store: ReliabilityStore,
  maxEvents = MAX_EVENTS,
): (query?: ReliabilityQuery) => Promise<Reliability> {
  /** By session, the one read last at the end. */
  const cache = new Map<string, Kept>()
  let size = 0

  function keep(id: string, kept: Kept): void {
    size += kept.events.length - (cache.get(id)?.events.length ?? 0)
    cache.delete(id)
    cache.set(id, kept)
    for (const [oldest, { events }] of cache) {
      if (size <= maxEvents) break
      size -= events.length
      cache.delete(oldest)
    }
  }

  async function eventsOf(sessionId: string, since: number): Promise<readonly AgentEvent[]> {
    const last = await store.lastEventId(sessionId)
    const known = cache.get(sessionId)
    const isCurrent = known !== undefined && known.last === last && known.since <= since
    const kept = isCurrent ? known : { last, since, events: await read(sessionId, since) }
    keep(sessionId, kept)
    return kept.events
  }

  async function read(sessionId: string, since: number): Promise<readonly AgentEvent[]> {
    // Others can be served between two sessions.
    await setImmediate()
    return (await store.events({ sessionId, since })).flatMap((event) => slimEvent(event) ?? [])
  }

  async function sessionsOf({ cwd, session }: ReliabilityQuery, since: number, until: number): Promise<readonly SessionRow[]> {
    if (session !== undefined) {
      const row = await store.session(session)
      return [...(row ? [row] : []), ...(await store.sessions({ idPrefix: `${session}/`, limit: MAX_SESSIONS }))]
    }
    const filter = { since: since - LONGEST_TURN, withTasks: true, limit: MAX_SESSIONS, ...(cwd !== undefined && { cwd }) }
    return (await store.sessions(filter)).filter(({ createdAt }) => createdAt < until)
  }

  return async (query = {}) => {
    const { until = Number.POSITIVE_INFINITY, session } = query
    const { since = session === undefined ? Math.min(until, Date.now()) - DEFAULT_PERIOD : 0 } = query
    const observer = createObserver({ since, until })
    for (const { id } of await sessionsOf(query, since, until))
      for (const event of await eventsOf(id, since - LATEST_RESULT)) observer.add(event)
    return reliabilityOf(observer.end(), query)
  }
}
