/** The options of the engine, apart from the tools, and of the middleware. */
import type { ToolDefinition } from '@mulligan/core'
import type { AdapterOptions, ToolTraits as AnyToolTraits } from '@mulligan/core/adapter'
import type { Effect, Family, FinishedReply, Repair } from '@mulligan/repair'
import type { InferSchema, ToolSet } from 'ai'

export type { ConcludingEvent, QuotedEvent, TurnEvent } from '@mulligan/core/adapter'

/** What the engine can know about a tool. The defaults are those of `defineTool`. */
export interface ToolTraits<Input = unknown> extends AnyToolTraits<Input>, Partial<Pick<ToolDefinition<Input>, 'errorStrings'>> {
  /** The tool returns an async iterable. Detected automatically for an `async function*`. */
  readonly streams?: boolean
}

/**
 * The options of every adapter, and those for the AI SDK. With the preset `full`, effects need approval only if a person can be asked. `policy` decides in addition to
 * `toolApproval`; the stricter of the two applies.
 */
export interface MulliganOptions<TOOLS extends ToolSet = ToolSet> extends Omit<AdapterOptions, 'tools' | 'asks'> {
  /** By name. */
  readonly tools?: { readonly [name in keyof TOOLS]?: ToolTraits<InferSchema<TOOLS[name]['inputSchema']>> }
  /**
   * Whether the app shows approval requests to a person. If not, the model is told that a call needs approval, and goes on. Default: true
   * if there is a `policy`, a `toolApproval` or a tool with `needsApproval`.
   */
  readonly canAsk?: boolean
  /** `observe` changes nothing, and reports to `onEvent` what the engine would have done. */
  readonly mode?: 'observe'
  /**
   * If a call was seen or announced, but the reply contains none, ask the model once, in a second request. Default false; with `full`,
   * true.
   */
  readonly asks?: boolean
}

/** The repaired call. */
export interface RepairedCall {
  readonly toolName: string
  readonly toolCallId: string
}

export interface RepairToolCallsOptions {
  /** The markup to look for. Default: that of every known family. */
  readonly families?: readonly Family[]
  /** The text begins inside the reasoning, as GLM's and DeepSeek-R1's does if the server does not separate the two. Default false. */
  readonly opensInReasoning?: boolean
  /** The effect of each tool by name, or of all tools: decides how far a call may be repaired. Default `external`, the most careful. */
  readonly effects?: Readonly<Record<string, Effect>> | Effect
  /** Called for each repair. Exceptions are ignored. */
  readonly onRepair?: (repair: Repair, call: RepairedCall) => void
  /**
   * Called if a reply contains something that looks like a call but was not run. `asked` is true if the model is asked to make the call
   * properly. Not called if the app asked for JSON.
   */
  readonly onQuoted?: (quoted: FinishedReply['quoted'], asked: boolean) => void
  /**
   * If a call was seen or announced, but the reply contains none, the model is asked once to make it properly. This is a second
   * request, whose reply continues the same stream. Default true.
   */
  readonly asks?: boolean
}
