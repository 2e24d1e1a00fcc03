/** The engine's options, apart from the tools. */
import type { Breakers, Clock, ExecutorOptions, Limits, Policy, Spill, ToolDefinition, ToolEvent } from '@mulligan/core'
import type { Family } from '@mulligan/repair'
import type { InferSchema, ToolSet } from 'ai'

/** What the engine can know of a tool; everything has the default of `defineTool`. */
export interface ToolTraits<Input = unknown>
  extends Partial<
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
      | 'errorStrings'
      | 'untrusted'
    >
  > {
  /** It returns an async iterable. Known by itself of an `async function*`. */
  readonly streams?: boolean
}

/** The turn is to end: its next request is the last, without leave to call tools. */
export interface ConcludingEvent {
  readonly type: 'turn.concluding'
  /** From 1. */
  readonly step: number
  readonly by: 'loop' | keyof Limits
}

/** What looks like a call in a reply and was not run, and why. `asked`: the model was asked once to make it properly. */
export interface QuotedEvent {
  readonly type: 'message.quoted'
  readonly quoted: readonly { readonly raw: string; readonly why: string; readonly open: boolean }[]
  readonly asked: boolean
}

export type TurnEvent = ToolEvent | ConcludingEvent | QuotedEvent

export interface MulliganOptions<TOOLS extends ToolSet = ToolSet> {
  /** By name. */
  readonly tools?: { readonly [name in keyof TOOLS]?: ToolTraits<InferSchema<TOOLS[name]['inputSchema']>> }
  /** For the tools that say nothing themselves. */
  readonly defaults?: Pick<ToolTraits, 'effect' | 'timeout' | 'retries' | 'repair'>
  /** Who decides besides `toolApproval`; of the two the stricter counts. Default: everything may run. */
  readonly policy?: Policy
  /** Of a turn. Default: 25 requests, 200 calls. `cost` is not counted. */
  readonly limits?: Partial<Omit<Limits, 'cost'>>
  /** Tokens that a result may have in a request. Default 4915. */
  readonly maxResultTokens?: number
  /** Keeps the whole of a result that was cut where the model can read it. */
  readonly spill?: Spill
  /** Give the same one to several: a service that is down is down for all. Default: one for each turn. */
  readonly breakers?: Breakers
  /** `observe` changes nothing, and tells `onEvent` what the engine would have done. */
  readonly mode?: 'observe'
  /** What it returns for `tool.started` is awaited before the tool runs. */
  readonly onEvent?: (event: TurnEvent) => void | Promise<void>
  /** Gets exceptions whole, with message and stack. They go nowhere else. */
  readonly log?: ExecutorOptions['log']
  /** Which markup to look for in texts. Default: that of every family there is. */
  readonly families?: readonly Family[]
  /** The text begins inside the reasoning. Default false. */
  readonly opensInReasoning?: boolean
  /** Ask the model once, in a second request, where a call was seen or announced and none came out of its reply. Default true. */
  readonly asks?: boolean
  readonly clock?: Clock
  /** Milliseconds a tool is given to end by itself after its signal is aborted. Default 1000. */
  readonly graceMs?: number
}
