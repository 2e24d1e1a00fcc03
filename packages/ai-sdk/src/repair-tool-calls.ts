/** Middleware for the AI SDK: what a model meant as tool calls arrives as tool calls that fit their schemas. */
import type { LanguageModelV4Middleware, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type Effect, type Family, families, type Repair } from '@mulligan/repair'
import { contentOf, partsOf } from './content.ts'
import { createMender, type Mender } from './mender.ts'
import { toolsetOf } from './toolset.ts'

/** The call that a repair was made in, as it goes on. */
export interface RepairedCall {
  readonly toolName: string
  readonly toolCallId: string
}

export interface RepairToolCallsOptions {
  /** Which markup to look for. Default: that of every family there is. */
  readonly families?: readonly Family[]
  /** The text begins inside the reasoning, as GLM's and DeepSeek-R1's does where the server leaves it in. Default false. */
  readonly opensInReasoning?: boolean
  /** What each tool does, by name, or all of them: decides how far a call may be mended. Default `external`, the most careful. */
  readonly effects?: Readonly<Record<string, Effect>> | Effect
  /** Told of each repair. What it throws is dropped: a log must not break a reply. */
  readonly onRepair?: (repair: Repair, call: RepairedCall) => void
}

type Model = Parameters<NonNullable<LanguageModelV4Middleware['wrapStream']>>[0]['model']
type Params = Parameters<NonNullable<LanguageModelV4Middleware['wrapStream']>>[0]['params']

/**
 * Calls that came as markup in the text become tool calls, names and arguments are mended, and what can't be repaired goes on
 * as it came, for the SDK to tell the model of: its own `repairToolCall` still has its turn. For AI SDK 7, whose models have
 * the specification `v4`; with models of another one the first request throws.
 *
 * @example
 * const model = wrapLanguageModel({ model: provider('glm-4.7-flash'), middleware: repairToolCalls() })
 */
export function repairToolCalls(options: RepairToolCallsOptions = {}): LanguageModelV4Middleware {
  return {
    specificationVersion: 'v4',
    wrapStream: async ({ doStream, params, model }) => {
      mustBeKnown(model)
      const result = await doStream()
      const mender = menderFor(params, options)
      return mender ? { ...result, stream: result.stream.pipeThrough(through(mender)) } : result
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      mustBeKnown(model)
      const result = await doGenerate()
      const mender = menderFor(params, options)
      if (!mender) return result
      const { content, finishReason, usage } = result
      const parts = partsOf(content).flatMap(mender.part)
      const ended = mender.part({ type: 'finish', finishReason, usage })
      const finish = ended.find((part) => part.type === 'finish')
      return { ...result, content: contentOf([...parts, ...ended], content), finishReason: finish?.finishReason ?? finishReason }
    },
  }
}

/** Another specification has other parts: to read them as these would lose some. */
function mustBeKnown({ specificationVersion }: Model): void {
  if (specificationVersion === 'v4') return
  throw new Error(`@mulligan/ai-sdk knows models of AI SDK 7 (specification v4), and this one has ${String(specificationVersion)}.`)
}

/** Undefined where the reply can have no calls, and is left alone. */
function menderFor({ tools = [], toolChoice }: Params, options: RepairToolCallsOptions): Mender | undefined {
  if (toolChoice?.type === 'none' || !tools.some((tool) => tool.type === 'function')) return undefined
  try {
    return createMender(toolsetOf(tools, options.effects), { ...options, families: options.families ?? families })
  } catch {
    // Two tools of the same name: the provider refuses them, or knows better.
    return undefined
  }
}

function through(mender: Mender): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  return new TransformStream({
    transform: (part, controller) => {
      for (const one of mender.part(part)) controller.enqueue(one)
    },
    flush: (controller) => {
      for (const one of mender.end()) controller.enqueue(one)
    },
  })
}
