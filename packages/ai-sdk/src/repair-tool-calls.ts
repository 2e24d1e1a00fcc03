/** AI SDK middleware that repairs tool calls so that they fit their schemas. */
import type { LanguageModelV4CallOptions, LanguageModelV4Middleware } from '@ai-sdk/provider'
import { type Effect, type Family, type FinishedReply, families, type Repair } from '@mulligan/repair'
import { middlewareOf } from './middleware.ts'
import { createStreamRepair, type StreamRepair, type Traits } from './stream-repair.ts'

/** The call that a repair was made in, as it continues. */
export interface RepairedCall {
  readonly toolName: string
  readonly toolCallId: string
}

export interface RepairToolCallsOptions {
  /** Which markup to look for. Default: that of every family there is. */
  readonly families?: readonly Family[]
  /** The text begins inside the reasoning, as GLM's and DeepSeek-R1's does where the server leaves it in. Default false. */
  readonly opensInReasoning?: boolean
  /** What each tool does, by name, or all of them: decides how far a call may be repaired. Default `external`, the most careful. */
  readonly effects?: Readonly<Record<string, Effect>> | Effect
  /** Called for each repair. What it throws is ignored. */
  readonly onRepair?: (repair: Repair, call: RepairedCall) => void
  /** Called for a reply that has what looks like a call and was not run. `asked`: the model is asked to make it properly. */
  readonly onQuoted?: (quoted: FinishedReply['quoted'], asked: boolean) => void
  /**
   * Where a call was seen or announced, and none came out of the reply, the model is asked once to make it properly: a second
   * request, whose reply goes on in the same stream. Default true.
   */
  readonly asks?: boolean
}

/**
 * Calls that came as markup in the text become tool calls, names and arguments are repaired, and what can't be repaired continues
 * as it came, for the SDK to report to the model: its own `repairToolCall` still has its turn. For AI SDK 7, whose models have
 * the specification `v4`; with models of another one the first request throws.
 *
 * @example
 * const model = wrapLanguageModel({ model: provider('glm-4.7-flash'), middleware: repairToolCalls() })
 */
export const repairToolCalls = (options: RepairToolCallsOptions = {}): LanguageModelV4Middleware =>
  middlewareOf((params, second) =>
    streamRepairFor(params, second ? { ...options, asks: false } : options, (name) => ({ effect: effectOf(name, options.effects) })),
  )

function effectOf(name: string, effects: RepairToolCallsOptions['effects'] = 'external'): Effect {
  if (typeof effects === 'string') return effects
  return (Object.hasOwn(effects, name) ? effects[name] : undefined) ?? 'external'
}

/** Undefined if the reply can have no calls, and is left alone. */
export function streamRepairFor(
  { tools = [], toolChoice }: LanguageModelV4CallOptions,
  options: RepairToolCallsOptions,
  traitsOf: (name: string) => Traits,
): StreamRepair | undefined {
  if (toolChoice?.type === 'none' || !tools.some((tool) => tool.type === 'function')) return undefined
  try {
    return createStreamRepair(tools, traitsOf, { ...options, families: options.families ?? families })
  } catch {
    // Two tools of the same name: the provider refuses them, or knows better.
    return undefined
  }
}
