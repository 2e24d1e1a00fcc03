/** The options and the interface of an executor. */
import type { ApprovalRequest, CallRecord, Decided, HeldCall, Performed, Prepared, PreparedCall } from './call/prepared-call.ts'
import type { ParsedCall } from './call/resolve-call.ts'
import type { ApprovalDecision, ToolEvent } from './events.ts'
import type { Policy, PolicyRequest } from './policy.ts'
import type { ToolResult } from './result.ts'
import type { Spill } from './run/bound.ts'
import type { Clock } from './run/run-tool.ts'
import type { Breakers } from './run/transient.ts'
import type { Effect, ErrorDisclosure, Tool } from './tool.ts'
import type { IndeterminateCall } from './turn/indeterminate.ts'
import type { Tainted, TurnState } from './turn/state.ts'

/** Maximum tokens of a result if the model's context size is unknown: 15 % of 32,768. */
export const DEFAULT_RESULT_TOKENS = 4915

export interface ExecutorOptions {
  readonly tools: readonly Tool[]
  /** The policy. Default: reads run, everything else asks. */
  readonly policy?: Policy
  /** Maximum tool calls per turn, or a function that returns how many it may have made by now. Default 200. */
  readonly maxCalls?: number | (() => number)
  /** Maximum tokens per result. Default {@link DEFAULT_RESULT_TOKENS}. */
  readonly maxResultTokens?: number
  readonly spill?: Spill
  /** The circuit breakers. Share them between turns: a service that is down is down for all. */
  readonly breakers?: Breakers
  /** Aborted when the turn is stopped. */
  readonly signal?: AbortSignal
  /** Unsettled calls of earlier turns that may have taken effect: similar calls need a person's approval. */
  readonly indeterminate?: readonly IndeterminateCall[]
  /** What earlier turns of the session have read. Default: nothing. */
  readonly tainted?: Tainted
  /** The state of an earlier executor of the same turn, in place of `indeterminate` and `tainted`. Default: a new turn. */
  readonly state?: TurnState
  /** Returns the call's effect in this conversation, if it is greater than the tool declares. It can only raise the effect. */
  readonly effectOf?: (request: PolicyRequest) => Effect
  /**
   * Returns how the host changes the validated input of a tool before it runs; undefined if it does not. Policy, target, events and
   * records are about the changed input.
   */
  readonly refine?: (tool: string) => ((value: unknown) => unknown) | undefined
  /** Returns whether a person has named this secret file themselves, so that opening it needs no approval. Default: none. */
  readonly isNamed?: (path: string) => boolean
  /** Called with events in order. What it returns for `tool.started` is awaited before each attempt: intent before effect. */
  readonly onEvent?: (event: ToolEvent) => void | Promise<void>
  /** Whether wrong calls are counted and a tool closes when its retries are spent. Default true. */
  readonly budgets?: boolean
  /** Whether the loop guard refuses calls that are repeated without effect. Default true. */
  readonly guard?: boolean
  /** Returns whether calls of a tool with effects run side by side, and are asked about only if the policy says so. Default: none. */
  readonly isUnsupervised?: (tool: string) => boolean
  /** What the model reads of unexpected exceptions, for tools that don't set `errors`. */
  readonly errors?: ErrorDisclosure
  /** Removes further secrets from the message of an exception. */
  readonly redact?: (text: string) => string
  /** Receives exceptions in full, with message, stack and cause. Default: the first one is printed as a warning. */
  readonly log?: (entry: { readonly callId: string; readonly tool: string; readonly error: unknown }) => void
  readonly clock?: Clock
  /** Milliseconds a tool has to finish after its signal is aborted. Default 1000. */
  readonly graceMs?: number
}

export interface Executor {
  /** Does everything up to running the call. Returns a result, a question for a person, or a call that is ready. */
  readonly prepare: (call: ParsedCall) => Promise<Prepared>
  /** Applies a person's answer. */
  readonly decide: (call: PreparedCall, request: ApprovalRequest, decision: ApprovalDecision) => Promise<Decided>
  /** Runs a call and returns its record. Changes on a layer are kept if the policy allows it, otherwise discarded; nobody is asked. */
  readonly execute: (call: PreparedCall) => Promise<CallRecord>
  /**
   * Runs a call. If it ran on a layer and a person must decide about its changes, returns that question.
   *
   * @param firstAttempt above 1 if an earlier process started the call and its outcome is unknown, see {@link Executor.isIdempotent}.
   * Default 1
   */
  readonly perform: (call: PreparedCall, firstAttempt?: number) => Promise<Performed>
  /** Returns whether a call that was cut off may run again: its service recognises it by its idempotency key. */
  readonly isIdempotent: (call: Pick<PreparedCall, 'tool'>) => boolean
  /** Applies a person's answer about the changes a call made on its layer. */
  readonly apply: (held: HeldCall, decision: ApprovalDecision) => Promise<CallRecord>
  /** Stores the changes of a call on its layer, so that the decision about them can come after this process has ended. Never throws. */
  readonly park: (held: HeldCall) => Promise<void>
  /** Records an outcome that was determined some other way, e.g. for a call cut off by a crash. `attempts`: executions, default 0. */
  readonly settle: (call: PreparedCall, result: ToolResult, attempts?: number) => Promise<CallRecord>
  /**
   * Counts the events recorded before a restart, so that a resumed turn has its counters, guard and denials back.
   *
   * @param prepared the call that these events prepared, if it has no outcome yet
   */
  readonly replay: (events: readonly ToolEvent[], prepared?: PreparedCall) => void
  /** Returns the effect suggested by a call's name alone, to keep calls in order before they are prepared. */
  readonly effectOf: (call: Pick<ParsedCall, 'name'>) => Effect
  readonly state: () => TurnState
  /** Returns whether the loop guard has tripped and the turn must be concluded. */
  readonly looping: () => boolean
}
