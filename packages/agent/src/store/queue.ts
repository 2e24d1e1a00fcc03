/** Queues the writes of a store: everything that arrives together goes to disk in one transaction, in order. */
import type { Driver, Fences, SessionWrite } from './driver.ts'
import { type LogEntry, shortIds } from './log.ts'
import { keyOf, LAST_ROW, MARKED } from './schema.ts'
import { SessionTakenOver } from './store.ts'

type Queued = SessionWrite | LogEntry

/** Errors by session. */
type Failures = ReadonlyMap<string, unknown>

interface Batch {
  readonly writes: Queued[]
  durable: boolean
  /** Never rejects. Set once the batch waits its turn; more writes can join it until then. */
  outcome?: Promise<Failures>
}

const emptyBatch = (): Batch => ({ writes: [], durable: false })

/**
 * @param fences the fences of all sessions claimed here
 * @param lastRows the numbers of their last log rows, counted up here
 */
export function createQueue({ write, mayPass }: Pick<Driver, 'write' | 'mayPass'>, fences: Fences, lastRows: Map<string, number>) {
  let next = emptyBatch()
  let running: Promise<Failures> | undefined
  let scheduled = false

  function settle(durable: boolean): Promise<Failures> {
    const batch = next
    if (batch.writes.length === 0) return running ?? Promise.resolve(new Map())
    batch.durable ||= durable
    if (batch.outcome === undefined) {
      const outcome = running ? running.then(() => run(batch)) : run(batch)
      batch.outcome = outcome
      running = outcome
      void outcome.then(() => {
        if (running === outcome) running = undefined
      })
    }
    return batch.outcome
  }

  /** Writes a batch. Writes that fail because of a full disk or a lost connection stay queued, but the failure is still reported. */
  async function run({ writes, durable }: Batch): Promise<Failures> {
    next = emptyBatch()
    const failures = new Map<string, unknown>()
    const keep = (kept: readonly Queued[], error: unknown): void => {
      next.writes.unshift(...kept)
      for (const { sessionId } of kept) failures.set(sessionId, error)
    }
    for (let left = writes; left.length > 0; ) {
      try {
        const rows = withRows(left, lastRows)
        await write(rows, fencesOf(rows), durable)
        break
      } catch (error) {
        if (error instanceof SessionTakenOver) {
          failures.set(error.sessionId, error)
          left = left.filter(({ sessionId }) => sessionId !== error.sessionId)
          continue
        }
        if (mayPass(error)) keep(left, error)
        else await oneByOne(left, durable, failures, keep)
        break
      }
    }
    return failures
  }

  /** Writes the rows one by one, so that a row that can never be written does not block the others. */
  async function oneByOne(
    writes: readonly Queued[],
    durable: boolean,
    failures: Map<string, unknown>,
    keep: (kept: readonly Queued[], error: unknown) => void,
  ): Promise<void> {
    for (const [at, one] of writes.entries()) {
      try {
        await write(withRows([one], lastRows), fencesOf([one]), durable)
      } catch (error) {
        if (mayPass(error)) return keep(writes.slice(at), error)
        failures.set(one.sessionId, error)
      }
    }
  }

  /** Returns the fences of a batch. A session that it creates has no row to check yet. */
  const fencesOf = (batch: readonly Queued[]): Fences => {
    const mine = new Map<string, number>()
    for (const { sessionId } of batch) {
      const fence = fences.get(sessionId)
      if (fence !== undefined) mine.set(sessionId, fence)
    }
    for (const one of batch) if ('creates' in one) mine.delete(one.sessionId)
    return mine
  }

  return {
    /** Returns the writes that are not yet in progress. */
    queued: (): readonly Queued[] => next.writes,
    /** Replaces a queued write. @returns false if it is no longer queued */
    replace(from: Queued, to: Queued): boolean {
      const at = next.writes.indexOf(from)
      if (at >= 0) next.writes[at] = to
      return at >= 0
    },
    /** Queues writes for the next turn of the event loop, together with everything added until then. */
    add(...writes: readonly Queued[]): void {
      next.writes.push(...writes)
      if (scheduled) return
      scheduled = true
      setImmediate(() => {
        scheduled = false
        void settle(false)
      })
    },
    /**
     * Writes everything queued.
     * @param sessionIds the sessions whose failures are thrown; default: all
     * @throws the first of their failures
     */
    async flush(sessionIds?: Iterable<string>, durable = false): Promise<void> {
      const failures = await settle(durable)
      for (const id of sessionIds ?? failures.keys()) if (failures.has(id)) throw failures.get(id)
    },
  }
}

/** Characters after which a new log row begins. */
const MAX_ROW = 65_536
/** Inserts the row with a number, or after the session's last row. */
const INSERT = insertAt('?')
const APPEND = insertAt(`${LAST_ROW} + 1`)

function insertAt(row: string): string {
  return `INSERT INTO log (seq, turn_id, event_id, body, compacted) SELECT ${keyOf(row)}, ?, ?, ?, ? FROM sessions WHERE id = ?`
}

/** Merges consecutive entries of one turn into one row. */
function withRows(queued: readonly Queued[], lastRows: Map<string, number>): readonly SessionWrite[] {
  const writes: SessionWrite[] = []
  for (let at = 0; at < queued.length; ) {
    const first = queued[at++] as Queued
    if (!('line' in first)) {
      writes.push(first)
      continue
    }
    const { sessionId, turnId } = first
    let { line: body, event } = first
    let compacted = isMarked(event)
    for (let next = queued[at]; next && 'line' in next && next.turnId === turnId && body.length < MAX_ROW; next = queued[++at]) {
      body += `\n${next.line}`
      event = next.event ?? event
      compacted ||= isMarked(next.event)
    }
    const values = [turnId, event?.id ?? null, shortIds(body, turnId), compacted ? 1 : null, sessionId]
    const last = lastRows.get(sessionId)
    if (last !== undefined) lastRows.set(sessionId, last + 1)
    writes.push({
      sessionId,
      ...(last === undefined ? { sql: APPEND, parameters: values } : { sql: INSERT, parameters: [last + 1, ...values] }),
      ...(event?.id !== undefined && { eventId: event.id }),
    })
  }
  return writes
}

const isMarked = (event: LogEntry['event']): boolean => event !== undefined && MARKED.includes(event.type)
