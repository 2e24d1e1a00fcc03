/** The writes of a store, on their way to the disk: one transaction for all that came together, in order. */
import type { Driver, Fences, SessionWrite } from './driver.ts'
import type { LogEntry } from './log.ts'
import { SessionTakenOver } from './store.ts'

type Queued = SessionWrite | LogEntry

/** What went wrong, by session. */
type Failures = ReadonlyMap<string, unknown>

interface Batch {
  readonly writes: Queued[]
  durable: boolean
  /** Never rejects. Set once the batch waits for its turn; until that comes, more can join it. */
  outcome?: Promise<Failures>
}

const emptyBatch = (): Batch => ({ writes: [], durable: false })

/** @param fences of all sessions that are claimed here */
export function createQueue({ write, mayPass }: Pick<Driver, 'write' | 'mayPass'>, fences: Fences) {
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

  /** What a full disk or a lost connection would not take stays queued, and is reported all the same. */
  async function run({ writes, durable }: Batch): Promise<Failures> {
    next = emptyBatch()
    const failures = new Map<string, unknown>()
    const keep = (kept: readonly Queued[], error: unknown): void => {
      next.writes.unshift(...kept)
      for (const { sessionId } of kept) failures.set(sessionId, error)
    }
    for (let left = writes; left.length > 0; ) {
      try {
        const rows = withRows(left)
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

  /** One row that can never be written must not take the others with it. */
  async function oneByOne(
    writes: readonly Queued[],
    durable: boolean,
    failures: Map<string, unknown>,
    keep: (kept: readonly Queued[], error: unknown) => void,
  ): Promise<void> {
    for (const [at, one] of writes.entries()) {
      try {
        await write(withRows([one]), fencesOf([one]), durable)
      } catch (error) {
        if (mayPass(error)) return keep(writes.slice(at), error)
        failures.set(one.sessionId, error)
      }
    }
  }

  const fencesOf = (batch: readonly Pick<Queued, 'sessionId'>[]): Fences => {
    const mine = new Map<string, number>()
    for (const { sessionId } of batch) {
      const fence = fences.get(sessionId)
      if (fence !== undefined) mine.set(sessionId, fence)
    }
    return mine
  }

  return {
    /** What is not being written yet. */
    queued: (): readonly Queued[] => next.writes,
    /** Queued for the next turn of the event loop, together with all that comes until then. */
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
     * Writes all that is queued. @param sessionIds whose failures are thrown; default: those of all
     * @throws the first of their failures
     */
    async flush(sessionIds?: Iterable<string>, durable = false): Promise<void> {
      const failures = await settle(durable)
      for (const id of sessionIds ?? failures.keys()) if (failures.has(id)) throw failures.get(id)
    },
  }
}

/** Characters after which a row of the log is followed by another one. */
const MAX_ROW = 65_536
const INSERT = 'INSERT INTO log (session_id, turn_id, event_id, body) VALUES (?, ?, ?, ?)'

/** Entries of one turn that follow each other become one row. */
function withRows(queued: readonly Queued[]): readonly SessionWrite[] {
  const writes: SessionWrite[] = []
  for (let at = 0; at < queued.length; ) {
    const first = queued[at++] as Queued
    if (!('line' in first)) {
      writes.push(first)
      continue
    }
    const { sessionId, turnId } = first
    let { line: body, event } = first
    for (let next = queued[at]; next && 'line' in next && next.turnId === turnId && body.length < MAX_ROW; next = queued[++at]) {
      body += `\n${next.line}`
      event = next.event ?? event
    }
    writes.push({
      sessionId,
      sql: INSERT,
      parameters: [sessionId, turnId, event?.id ?? null, body],
      ...(event?.id !== undefined && { eventId: event.id }),
    })
  }
  return writes
}
