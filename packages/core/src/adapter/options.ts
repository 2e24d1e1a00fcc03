/** The options that every adapter has, and what the two presets mean. */
import type { Family } from '@mulligan/repair'
import type { ToolEvent } from '../events.ts'
import type { ExecutorOptions } from '../executor-options.ts'
import type { Concluding } from '../loop/conclude.ts'
import { defaultPolicy, type Policy } from '../policy.ts'
import type { Spill } from '../run/bound.ts'
import type { Clock } from '../run/run-tool.ts'
import type { Breakers } from '../run/transient.ts'
import { DEFAULT_TIMEOUT, type ToolDefinition } from '../tool.ts'
import { DEFAULT_LIMITS, type Limits } from '../turn/limits.ts'

/** What the engine can know about a tool of a framework. Without an effect, a tool counts as `external`. */
export type ToolTraits<Input = Readonly<Record<string, unknown>>> = Partial<
  Pick<
    ToolDefinition<Input>,
    | 'effect'
    | 'timeout'
    | 'retries'
    | 'aliases'
    | 'parameterAliases'
    | 'repair'
    | 'target'
    | 'indeterminateScope'
    | 'service'
    | 'idempotent'
    | 'polls'
    | 'untrusted'
    | 'errors'
  >
>

/** The turn has to end: its next request is the last, and may not call tools. */
export interface ConcludingEvent {
  readonly type: 'turn.concluding'
  /** From 1. */
  readonly step: number
  readonly by: Concluding
}

/** Something in a reply that looks like a call and was not run, and why. `asked`: the model is asked once to make it properly. */
export interface QuotedEvent {
  readonly type: 'message.quoted'
  readonly quoted: readonly { readonly raw: string; readonly why: string; readonly open: boolean }[]
  readonly asked: boolean
}

export type TurnEvent = ToolEvent | ConcludingEvent | QuotedEvent

export interface AdapterOptions {
  /**
   * `gentle` repairs calls, explains wrong ones, redacts exceptions, enforces the timeouts that are set, and gives every call a result.
   * `full` adds retry budgets, the loop guard, limits, bounded results, a timeout for every tool, and approval of every call with
   * effects. Default `gentle`.
   */
  readonly preset?: 'gentle' | 'full'
  /** Whether wrong calls are counted and a tool closes when its retries are spent. Default false; with `full`, true. */
  readonly budgets?: boolean
  /** Whether calls that are repeated without effect are refused, and the turn ends in words. Default false; with `full`, true. */
  readonly guard?: boolean
  /** By name. */
  readonly tools?: Readonly<Record<string, ToolTraits>>
  /** For each trait that a tool does not set itself. */
  readonly defaults?: Pick<ToolTraits, 'effect' | 'timeout' | 'retries' | 'repair' | 'errors'>
  /** Decides which calls run, are asked about or are denied. Default: everything runs; with `full`, only reads run without approval. */
  readonly policy?: Policy
  /** Limits of a turn. Default: none; with `full`, 25 requests and 200 calls. `cost` is not counted. */
  readonly limits?: Partial<Omit<Limits, 'cost'>>
  /** Maximum tokens of a result. Default: unlimited; with `full`, 4915. */
  readonly maxResultTokens?: number
  /** Stores the complete text of a result that was cut, where the model can read it. */
  readonly spill?: Spill
  /** Can be shared, so that a service that is down is known to all turns. Default: none; with `full`, a new one for each turn. */
  readonly breakers?: Breakers
  /** Its result for `tool.started` is awaited before the tool runs. */
  readonly onEvent?: (event: TurnEvent) => void | Promise<void>
  /** What the model reads of unexpected exceptions, for tools that don't set it. Default `message`; for untrusted tools `class`. */
  readonly errors?: ExecutorOptions['errors']
  /** Receives exceptions in full, with message, stack and cause. Default: the first one is printed as a warning, without secrets. */
  readonly log?: ExecutorOptions['log']
  /** The markup to look for in texts. Default: that of every known family. */
  readonly families?: readonly Family[]
  /** The text begins inside the reasoning. Default false. */
  readonly opensInReasoning?: boolean
  /**
   * Whether the model is asked once, in a second request, if a call was seen but the reply contains none. With `full`, or if set to true,
   * also if a call was only announced; with `full`, also after an empty reply. Default true.
   */
  readonly asks?: boolean
  readonly clock?: Clock
  /** Milliseconds that a tool gets to end after its signal is aborted. Default 1000. */
  readonly graceMs?: number
}

const NO_LIMITS: Limits = { requests: Infinity, calls: Infinity, tokens: Infinity, cost: Infinity, seconds: Infinity }
const ALLOW: Policy = () => ({ decision: 'allow', reason: 'no policy was given' })

/** The parts of the engine that are in force. */
export function partsOf({
  preset = 'gentle',
  policy,
  limits,
  maxResultTokens,
  ...given
}: Pick<AdapterOptions, 'preset' | 'policy' | 'limits' | 'maxResultTokens' | 'budgets' | 'guard'>) {
  if (preset !== 'gentle' && preset !== 'full') throw new TypeError(`mulligan: there is no preset ${JSON.stringify(preset)}.`)
  const isFull = preset === 'full'
  const { budgets = isFull, guard = isFull } = given
  return {
    isFull,
    budgets,
    guard,
    /** Calls are counted across the turn: budgets, guard, order of effects. */
    counts: isFull || budgets || guard,
    asksWhenEmpty: isFull,
    /** Calls may need a person's approval. */
    needsApproval: isFull || policy !== undefined,
    policy: policy ?? (isFull ? defaultPolicy : ALLOW),
    limits: { ...(isFull ? DEFAULT_LIMITS : NO_LIMITS), ...limits },
    timeout: isFull ? DEFAULT_TIMEOUT : Infinity,
    maxResultTokens: isFull ? maxResultTokens : (maxResultTokens ?? Infinity),
  }
}
