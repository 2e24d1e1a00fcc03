/** The writes of a store, on their way to the disk: one transaction for all that came together, in order. */
import type { Driver, Fences, SessionWrite } from './driver.ts'
import { SessionTakenOver } from './store.ts'

/** What went wrong, by session. */
type Failures = ReadonlyMap<string, unknown>

interface Batch {
  readonly writes: SessionWrite[]
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
    const keep = (kept: readonly SessionWrite[], error: unknown): void => {
      next.writes.unshift(...kept)
      for (const { sessionId } of kept) failures.set(sessionId, error)
    }
    for (let left = writes; left.length > 0; ) {
      try {
        await write(left, fencesOf(left), durable)
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
    writes: readonly SessionWrite[],
    durable: boolean,
    failures: Map<string, unknown>,
    keep: (kept: readonly SessionWrite[], error: unknown) => void,
  ): Promise<void> {
    for (const [at, one] of writes.entries()) {
      try {
        await write([one], fencesOf([one]), durable)
      } catch (error) {
        if (mayPass(error)) return keep(writes.slice(at), error)
        failures.set(one.sessionId, error)
      }
    }
  }

  const fencesOf = (batch: readonly SessionWrite[]): Fences => {
    const mine = new Map<string, number>()
    for (const { sessionId } of batch) {
      const fence = fences.get(sessionId)
      if (fence !== undefined) mine.set(sessionId, fence)
    }
    return mine
  }

  return {
    /** Queued for the next turn of the event loop, together with all that comes until then. */
    add(...writes: readonly SessionWrite[]): void {
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
