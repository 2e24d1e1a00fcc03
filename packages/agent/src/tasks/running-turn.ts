/** What a turn gives to those who do its tasks: shares of its limits, its approvals, its event stream. */
import type { Limits } from '@mulligan/core'
import { NOTHING_SPENT, type Spent, spend, type TurnState } from '@mulligan/core/executor'
import type { TurnEvent } from '../events.ts'
import type { Approve } from '../options.ts'
import type { ParkedCall } from '../parked.ts'
import type { ApprovalRow } from '../store/store.ts'

export interface RunningTurn {
  /** Reserves limits for a task. @returns undefined if there are not enough requests left */
  readonly share: (callId: string) => Limits | undefined
  /** Gives back what a task did not use of its share. */
  readonly use: (callId: string, used: Spent) => void
  readonly state: () => TurnState
  readonly signal: AbortSignal
  readonly approve: Approve
  /** The questions for which the turn was parked, those of its tasks among them. */
  readonly approvals: readonly ApprovalRow[]
  /** Parks the turn, once everything that runs has ended: the task of this call waits for these questions, or for another task. */
  readonly wait: (callId: string, questions: readonly ParkedCall[]) => void
  readonly isWaiting: () => boolean
  readonly emit: (event: TurnEvent) => Promise<void>
}

export type RunningTurns = Map<string, RunningTurn>

/** Requests that a turn keeps for itself, to answer with what its tasks have found. */
const KEPT = 1
/** A task needs one request to call a tool, and one to answer. */
const LEAST = 2

/**
 * Divides the limits of a turn: each task gets half of what is left, so that however many run at once, the turn stays within its limits.
 *
 * @param own what the turn itself has spent
 */
export function createShares(limits: Limits, own: () => Spent) {
  /** What tasks have used or may still use, by call. */
  const reserved = new Map<string, Spent>()
  const taken = (): Spent => [...reserved.values()].reduce(spend, NOTHING_SPENT)

  function share(callId: string): Limits | undefined {
    // A task that is resumed gets a new share.
    reserved.delete(callId)
    const spent = spend(own(), taken())
    const half = (limit: keyof Limits, kept = 0): number => (limits[limit] - spent[limit] - kept) / 2
    const requests = Math.ceil(half('requests', KEPT))
    const calls = Math.floor(half('calls'))
    if (requests < LEAST || calls < 1) return undefined
    const part: Limits = { requests, calls, tokens: half('tokens'), cost: half('cost'), seconds: Number.POSITIVE_INFINITY }
    const finite = ({ tokens, cost }: Limits): Partial<Spent> => ({
      ...(Number.isFinite(tokens) && { tokens }),
      ...(Number.isFinite(cost) && { cost }),
    })
    reserved.set(callId, { ...NOTHING_SPENT, requests, calls, ...finite(part) })
    return part
  }

  return { share, taken, use: (callId: string, used: Spent) => void reserved.set(callId, used) }
}
