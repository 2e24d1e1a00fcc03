/** The options and the interface of an executor. */
import type { ApprovalRequest, CallRecord, Decided, HeldCall, Performed, Prepared, PreparedCall } from './call/prepared-call.ts'
import type { ParsedCall } from './call/resolve-call.ts'
import type { ApprovalDecision, ToolEvent } from './events.ts'
import type { Policy, PolicyRequest } from './policy.ts'
import type { ToolResult } from './result.ts'
import type { Spill } from './run/bound.ts'
import type { Clock } from './run/run-tool.ts'
import type { Breakers } from './run/transient.ts'
import type { Effect, Tool } from './tool.ts'
import type { IndeterminateCall } from './turn/indeterminate.ts'
import type { Tainted, TurnState } from './turn/state.ts'

/** Tokens a result may have when nobody says how large the model's context is: 15 % of 32,768. */
export const DEFAULT_RESULT_TOKENS = 4915

export interface ExecutorOptions {
  readonly tools: readonly Tool[]
  /** Default: reads run, everything else asks. */
  readonly policy?: Policy
  /** Tool calls of the turn. Default 200. */
  readonly maxCalls?: number
  /** Default {@link DEFAULT_RESULT_TOKENS}. */
  readonly maxResultTokens?: number
  readonly spill?: Spill
  /** Share one between turns: a service that is down is down for all. */
  readonly breakers?: Breakers
  /** Aborted when the turn is stopped. */
  readonly signal?: AbortSignal
  /** Calls of earlier turns that may have taken effect and are not settled: further calls like them need a person. */
  readonly indeterminate?: readonly IndeterminateCall[]
  /** What earlier turns of the session have read. Default: nothing. */
  readonly tainted?: Tainted
  /** What a call amounts to in this conversation, where that is more than its tool says. Never less. */
  readonly effectOf?: (request: PolicyRequest) => Effect
  /** Whether a person has named this secret file themselves, so that opening it needs no further word. Default: none. */
  readonly isNamed?: (path: string) => boolean
  /** Called in order. What it returns for `tool.started` is awaited before each attempt: intent before effect. */
  readonly onEvent?: (event: ToolEvent) => void | Promise<void>
  /** Gets exceptions whole, with message and stack. They go nowhere else. */
  readonly log?: (entry: { readonly callId: string; readonly tool: string; readonly error: unknown }) => void
  readonly clock?: Clock
  /** Milliseconds a tool is given to end by itself after its signal is aborted. Default 1000. */
  readonly graceMs?: number
}

export interface Executor {
  /** Everything up to running: a result already, a question for a person, or a call that is ready. */
  readonly prepare: (call: ParsedCall) => Promise<Prepared>
  /** Applies a person's answer. */
  readonly decide: (call: PreparedCall, request: ApprovalRequest, decision: ApprovalDecision) => Promise<Decided>
  /** Runs it to its record. What it did on a layer is kept where the policy allows that, otherwise discarded: nobody is asked. */
  readonly execute: (call: PreparedCall) => Promise<CallRecord>
  /** Runs it; where it ran on a layer and a person has to decide about its changes, to that question. */
  readonly perform: (call: PreparedCall) => Promise<Performed>
  /** Applies a person's answer to what a call did on its layer. */
  readonly apply: (held: HeldCall, decision: ApprovalDecision) => Promise<CallRecord>
  /** Records an outcome that was found out some other way, e.g. a call cut off by a crash. `attempts`: executions, default 0. */
  readonly settle: (call: PreparedCall, result: ToolResult, attempts?: number) => Promise<CallRecord>
  /**
   * Counts what was recorded before a restart, so that a resumed turn has its counters, guard and denials as they were.
   *
   * @param prepared the call that these events prepared, where it has no outcome yet
   */
  readonly replay: (events: readonly ToolEvent[], prepared?: PreparedCall) => void
  /** What a call would do, as far as its name says: to keep calls in order before they are prepared. */
  readonly effectOf: (call: Pick<ParsedCall, 'name'>) => Effect
  readonly state: () => TurnState
  /** The loop guard has had enough: conclude the turn. */
  readonly looping: () => boolean
}
