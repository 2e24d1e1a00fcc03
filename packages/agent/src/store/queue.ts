/** The writes of a store, on their way to the disk. */
import type { NodeSqlite, Write } from './dialect.ts'
import { SessionTakenOver } from './store.ts'

/** A statement for one session. */
interface SessionWrite extends Write {
  readonly sessionId: string
}

/** SQLite's BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. Anything else is wrong with the row itself, and would be again. */
const PASSING = new Set([5, 6, 8, 10, 13, 14])
const mayPass = (error: unknown): boolean => PASSING.has(Number((error as { errcode?: unknown }).errcode) & 0xff)

/**
 * Writes that wait for each other: one transaction for all that came together, in order.
 *
 * @param isMine asked within the transaction: whether the session can still be written here
 */
export function createQueue(write: NodeSqlite['write'], isMine: (sessionId: string) => boolean) {
  let waiting: SessionWrite[] = []
  let scheduled = false

  function transaction(batch: readonly SessionWrite[], durable: boolean): void {
    write(batch, durable, () => {
      for (const id of new Set(batch.map(({ sessionId }) => sessionId))) if (!isMine(id)) throw new SessionTakenOver(id)
    })
  }

  /** What a full or busy disk would not take stays queued, and the next flush that is waited for says why. */
  async function flush(durable = false): Promise<void> {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      transaction(batch, durable)
    } catch (error) {
      if (error instanceof SessionTakenOver) {
        waiting = [...batch.filter(({ sessionId }) => sessionId !== error.sessionId), ...waiting]
        await flush(durable)
      } else if (mayPass(error)) waiting = [...batch, ...waiting]
      else oneByOne(batch, durable)
      throw error
    }
  }

  /** One row that can never be written must not take the others with it. */
  function oneByOne(batch: readonly SessionWrite[], durable: boolean): void {
    for (const one of batch) {
      try {
        transaction([one], durable)
      } catch (error) {
        if (mayPass(error)) waiting.push(one)
      }
    }
  }

  return {
    /** Queued for the next turn of the event loop, together with all that comes until then. */
    add(sessionId: string, { sql, parameters }: Write): Promise<void> {
      waiting.push({ sessionId, sql, parameters })
      if (!scheduled) {
        scheduled = true
        setImmediate(() => {
          scheduled = false
          flush().catch(() => undefined)
        })
      }
      return Promise.resolve()
    },
    flush,
  }
}
