/** The engine's options, apart from the tools. */
import type { ToolDefinition } from '@mulligan/core'
import type { AdapterOptions, ToolTraits as AnyToolTraits } from '@mulligan/core/adapter'
import type { InferSchema, ToolSet } from 'ai'

export type { ConcludingEvent, QuotedEvent, TurnEvent } from '@mulligan/core/adapter'

/** What the engine can know about a tool. The defaults are those of `defineTool`. */
export interface ToolTraits<Input = unknown> extends AnyToolTraits<Input>, Partial<Pick<ToolDefinition<Input>, 'errorStrings'>> {
  /** The tool returns an async iterable. Detected automatically for an `async function*`. */
  readonly streams?: boolean
}

/**
 * As for every adapter. With the preset `full`, effects need approval only if a person can be asked. `policy` decides in addition to
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
