/** All that a turn's executor knows: reduced from events, so a resumed turn has it as it was. */
import type { ToolEvent } from '../events.ts'
import { type Consent, NO_CONSENT, reduceConsent } from './consent.ts'
import { type Counters, NO_COUNTS, reduceCounters } from './counters.ts'
import { type Guard, NO_LOOPS, reduceGuard } from './guard.ts'
import { NO_PERMITS, type Permits, reducePermits } from './permits.ts'

export interface TurnState {
  /** Tool calls so far, refused ones too. */
  readonly calls: number
  readonly counters: Counters
  readonly guard: Guard
  readonly consent: Consent
  readonly permits: Permits
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
  consent: NO_CONSENT,
  permits: NO_PERMITS,
  untrusted: false,
  secret: false,
}

export function reduceTurn(state: TurnState, event: ToolEvent): TurnState {
  return {
    calls: state.calls + (event.type === 'tool.call' ? 1 : 0),
    counters: reduceCounters(state.counters, event),
    guard: reduceGuard(state.guard, event),
    consent: reduceConsent(state.consent, event),
    permits: reducePermits(state.permits, event),
    untrusted: state.untrusted || (event.type === 'tool.result' && event.untrusted === true),
    secret: state.secret || (event.type === 'tool.result' && event.result.secret === true),
  }
}
