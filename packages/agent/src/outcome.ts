/** The outcome of a turn. */
import type { CallRecord, Effect } from '@mulligan/core'
import type { Status } from '@mulligan/core/executor'
import type { StoppedBy, Usage } from './history/message.ts'

/**
 * The status of a turn. `interrupted`: the process ended in the middle of the turn; this status occurs only in the store. `waiting`: it is
 * parked until a person answers, and can then be resumed.
 */
export type TurnStatus = 'answered' | 'failed' | 'stopped' | 'needs_approval' | 'cancelled' | 'interrupted' | 'waiting'

export interface LedgerEntry {
  readonly callId: string
  readonly tool: string
  readonly effect: Effect
  /** The target: a path, a channel. */
  readonly target: string
  /** The first words of the input if they add anything to the target; only for unknown effects. */
  readonly words?: string
  /** The status; absent for changes. */
  readonly status?: Status
  /** One sentence of explanation, for failures and unknown effects. */
  readonly says?: string
}

/** The ledger of a turn, written by the engine and not taken from the model's words. */
export interface Ledger {
  /** Effects that took place. */
  readonly changed: readonly LedgerEntry[]
  /** Failures not followed by a success of the same tool. */
  readonly failed: readonly LedgerEntry[]
  /** Effects that may or may not have taken place, including those of earlier turns until they are settled. */
  readonly unknown: readonly LedgerEntry[]
}

/** The outcome of a turn: the object that `--json` prints. */
export interface TurnOutcome {
  readonly sessionId: string
  readonly turnId: string
  readonly status: TurnStatus
  /** The model's last message; the engine's own if the model could not be asked. */
  readonly answer: string
  readonly stoppedBy?: StoppedBy
  /** The error message for the person, if the turn failed. */
  readonly error?: string
  readonly ledger: Ledger
  readonly usage: Usage
  /** Number of model requests answered or attempted; retries are not counted separately. */
  readonly requests: number
  readonly calls: readonly CallRecord[]
}
