/** The outcome of a turn. */
import type { CallRecord, Effect, Status } from '@mulligan/core'
import type { Usage } from './history/message.ts'
import type { StoppedBy } from './stopped-by.ts'

/** `interrupted`: the process ended in mid-turn; only the store has it. */
export type TurnStatus = 'answered' | 'failed' | 'stopped' | 'needs_approval' | 'cancelled' | 'interrupted'

export type { StoppedBy }

export interface LedgerEntry {
  readonly callId: string
  readonly tool: string
  readonly effect: Effect
  /** What it acted on: a path, a channel. */
  readonly target: string
  /** The first words of the input, where they say more than the target: of what is unknown. */
  readonly words?: string
  /** Absent for what was changed. */
  readonly status?: Status
  /** One sentence, for what failed and what is unknown. */
  readonly says?: string
}

/** From the engine, not from the model's words. */
export interface Ledger {
  /** Effects that took place. */
  readonly changed: readonly LedgerEntry[]
  /** What failed and was not made good by a later success of the same tool. */
  readonly failed: readonly LedgerEntry[]
  /** Effects that may or may not have taken place; those of earlier turns too, until they are settled. */
  readonly unknown: readonly LedgerEntry[]
}

/** The object that `--json` prints. */
export interface TurnOutcome {
  readonly sessionId: string
  readonly turnId: string
  readonly status: TurnStatus
  /** The model's last words; the engine's own where the model could not be asked. */
  readonly answer: string
  readonly stoppedBy?: StoppedBy
  /** For the person, when the turn failed. */
  readonly error?: string
  readonly ledger: Ledger
  readonly usage: Usage
  /** Model requests answered or attempted, repeated ones counted once. */
  readonly requests: number
  readonly calls: readonly CallRecord[]
}
