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
