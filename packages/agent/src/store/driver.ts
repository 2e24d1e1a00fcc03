/**
 * The database driver interface. Each database has one file: `sqlite.ts` and `postgres.ts`. All SQL except the table definitions runs
 * on both.
 */

import type { SearchWord } from './search.ts'

export type Value = string | number | null

/** A statement to run, with values for its `?` parameters. */
export interface Write {
  readonly sql: string
  readonly parameters: readonly Value[]
}

/** Returns a statement for the places of a word: the columns `session` and `turn`, which is the turn's `seq`, and 0 for the title. */
export type FindWord = (word: SearchWord) => Write

/** A statement for one session. */
export interface SessionWrite extends Write {
  readonly sessionId: string
  /** The id of the last event it stores. */
  readonly eventId?: number
  /** Whether it creates the session. */
  readonly creates?: true
}

/** The fencing number of this process's latest claim, by session. */
export type Fences = ReadonlyMap<string, number>

export interface Driver {
  /** An id of this machine, within which process ids are visible. */
  readonly host: string
  /** An SQL expression for milliseconds since 1970, by a clock that all users of the store share. */
  readonly now: string
  /** Runs one statement on its own. It may run twice if a connection is lost, so it must be idempotent. */
  readonly all: <Row>(sql: string, ...parameters: readonly Value[]) => Promise<readonly Row[]>
  /**
   * Writes all statements in one transaction, in order, or none. SQLite is done when it returns.
   *
   * @param fences checked in the same transaction, before the first statement
   * @param durable whether it must be on disk even if the power fails
   * @throws SessionTakenOver, MissingSession
   */
  readonly write: (batch: readonly SessionWrite[], fences: Fences, durable: boolean) => Promise<void> | undefined
  /** Like `write` with `durable`, and leaves no trace of the deleted content. */
  readonly erase: (sessionId: string, batch: readonly SessionWrite[], fences: Fences) => Promise<void>
  /** Returns whether the same write may succeed later: the disk is full, the connection was lost. Otherwise the row itself is at fault. */
  readonly mayPass: (error: unknown) => boolean
  readonly findWord: FindWord
  /** Brings the search index up to date. Absent if every write does. */
  readonly updateSearch?: () => Promise<void>
  readonly afterTurn: () => void
  readonly close: () => Promise<void>
}

/** A row was not written because its session is not in the store. */
export class MissingSession extends Error {
  constructor(sessionId: string) {
    super(`there is no session ${sessionId}`)
    this.name = 'MissingSession'
  }
}

/** @param changes the number of rows that the statement changed @throws MissingSession */
export function checkInserted({ sql, sessionId }: SessionWrite, changes: number | bigint | null): void {
  if (Number(changes) === 0 && sql.startsWith('INSERT')) throw new MissingSession(sessionId)
}

/** Returns the session whose latest claim differs from ours, given the rows of the sessions claimed here. */
export const lostSession = (fences: Fences, rows: readonly { readonly id: string; readonly fence: number }[]): string | undefined =>
  [...fences].find(([id, fence]) => rows.find((row) => row.id === id)?.fence !== fence)?.[0]
