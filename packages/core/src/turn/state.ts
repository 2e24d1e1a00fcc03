/** The state of an executor, reduced from events, so that a resumed turn restores it. */
import type { ToolEvent } from '../events.ts'
import { type Approvals, NO_APPROVALS, reduceApprovals } from './approvals.ts'
import { type Counters, NO_COUNTS, reduceCounters } from './counters.ts'
import { type Denials, NO_DENIALS, reduceDenials } from './denials.ts'
import { type Guard, NO_LOOPS, reduceGuard } from './guard.ts'
import { type Indeterminate, NONE_INDETERMINATE, reduceIndeterminate } from './indeterminate.ts'

export interface TurnState {
  /** Tool calls so far, refused ones too. */
  readonly calls: number
  readonly counters: Counters
  readonly guard: Guard
  readonly denials: Denials
  readonly approvals: Approvals
  readonly indeterminate: Indeterminate
  /** The turn has read content from outside the machine's trust. */
  readonly untrusted: boolean
  /** A secret file was asked for. */
  readonly secret: boolean
}

/** What was read in the session before the turn. */
export type Tainted = Partial<Pick<TurnState, 'untrusted' | 'secret'>>

export const NEW_TURN: TurnState = {
  calls: 0,
  counters: NO_COUNTS,
  guard: NO_LOOPS,
  denials: NO_DENIALS,
  approvals: NO_APPROVALS,
  indeterminate: NONE_INDETERMINATE,
  untrusted: false,
  secret: false,
}

export function reduceTurn(state: TurnState, event: ToolEvent): TurnState {
  return {
    calls: state.calls + (event.type === 'tool.call' ? 1 : 0),
    counters: reduceCounters(state.counters, event),
    guard: reduceGuard(state.guard, event),
    denials: reduceDenials(state.denials, event),
    approvals: reduceApprovals(state.approvals, event),
    indeterminate: reduceIndeterminate(state.indeterminate, event),
    untrusted: state.untrusted || (event.type === 'tool.result' && event.untrusted === true),
    secret: state.secret || (event.type === 'tool.result' && event.result.secret === true),
  }
}
