/** What the store asks of a database. One file for each: `sqlite.ts` and `postgres.ts`. All SQL but the tables' own runs on both. */

export type Value = string | number | null

/** One statement to be run, with its values for the `?` in it. */
export interface Write {
  readonly sql: string
  readonly parameters: readonly Value[]
}

/** A statement for one session. */
export interface SessionWrite extends Write {
  readonly sessionId: string
  /** Of the event that it stores. */
  readonly eventId?: number
}

/** The number of the latest claim of this process, by session. */
export type Fences = ReadonlyMap<string, number>

export interface Driver {
  /** This machine, as far as its processes can be seen from here. */
  readonly host: string
  /** An SQL expression: milliseconds since 1970 by the one clock that all users of the store share. */
  readonly now: string
  /** Runs one statement by itself. It may be run twice where a connection is lost, so it must be idempotent. */
  readonly all: <Row>(sql: string, ...parameters: readonly Value[]) => Promise<readonly Row[]>
  /**
   * All in one transaction, in order, or none. SQLite is done when it returns.
   *
   * @param fences checked in the same transaction, before the first statement
   * @param durable on disk even if the power fails
   * @throws SessionTakenOver
   */
  readonly write: (batch: readonly SessionWrite[], fences: Fences, durable: boolean) => Promise<void> | undefined
  /** Like `write`, durable, and what is deleted is left nowhere. */
  readonly erase: (sessionId: string, batch: readonly SessionWrite[], fences: Fences) => Promise<void>
  /** Whether the same write may succeed later: the disk is full, the connection was lost. Otherwise the row itself is at fault. */
  readonly mayPass: (error: unknown) => boolean
  readonly afterTurn: () => void
  readonly close: () => Promise<void>
}

/** The session whose latest claim is another one, from the rows of those that are claimed here. */
export const lostSession = (fences: Fences, rows: readonly { readonly id: string; readonly fence: number }[]): string | undefined =>
  [...fences].find(([id, fence]) => rows.find((row) => row.id === id)?.fence !== fence)?.[0]
