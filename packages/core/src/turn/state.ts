/** The state of an executor, reduced from events so that a resumed turn can restore it. */
import type { ToolEvent } from '../events.ts'
import { type Counters, NO_COUNTS, reduceCounters } from './counters.ts'
import { type Guard, NO_LOOPS, reduceGuard } from './guard.ts'
import { type Indeterminate, NONE_INDETERMINATE, reduceIndeterminate } from './indeterminate.ts'
import { type Approvals, type Denials, hasBegun, NO_APPROVALS, NO_DENIALS, reduceApprovals, reduceDenials } from './permission.ts'

export interface TurnState {
  /** Tool calls so far, including refused ones. */
  readonly calls: number
  readonly counters: Counters
  readonly guard: Guard
  readonly denials: Denials
  readonly approvals: Approvals
  readonly indeterminate: Indeterminate
  /** Whether the turn has read untrusted content from outside the machine. */
  readonly untrusted: boolean
  /** Whether a secret file was requested. */
  readonly secret: boolean
}

/** What the session read before this turn. */
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

/** The state of a turn that is continued: calls that had begun and have no outcome may have taken effect. */
export function interruptedTurn(state: TurnState): TurnState {
  const { calls, open } = state.indeterminate
  const [begun = [], rest = []] = [true, false].map((has) => open.filter(({ id }) => hasBegun(state.approvals, id) === has))
  return begun.length === 0 ? state : { ...state, indeterminate: { ...state.indeterminate, calls: [...calls, ...begun], open: rest } }
}
