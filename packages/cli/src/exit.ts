/** How the process ends. */
import type { TurnOutcome, TurnStatus } from '@mulligan/agent'

export const EXIT = { ok: 0, failed: 1, usage: 2, stopped: 3, needsApproval: 4, cancelled: 130 } as const

const OF_STATUS: Readonly<Record<TurnStatus, number>> = {
  answered: EXIT.ok,
  failed: EXIT.failed,
  interrupted: EXIT.failed,
  stopped: EXIT.stopped,
  needs_approval: EXIT.needsApproval,
  cancelled: EXIT.cancelled,
}

export const exitCodeOf = ({ status }: Pick<TurnOutcome, 'status'>): number => OF_STATUS[status]

/** SQLite's CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26])

/** What to do where the store of the sessions is damaged or can't be reached; undefined for any other error. */
export const storeHint = (error: unknown): string | undefined =>
  (error as { readonly name?: unknown } | undefined)?.name === 'PostgresError'
    ? 'The sessions are kept in this database: MULLIGAN_STORE or `store` in your configuration says so.'
    : DAMAGED.has(Number((error as { readonly errcode?: unknown } | undefined)?.errcode) & 0xff)
      ? 'The store of the sessions is damaged. mulligan sessions repair saves what can be read, and keeps the damaged file.'
      : undefined

/** The person has to change something before this can work: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What to do, a command where there is one. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}
