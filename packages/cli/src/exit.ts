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
