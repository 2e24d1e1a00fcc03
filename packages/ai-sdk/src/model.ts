/** The model of one step: bounds what is sent, and passes the calls of the reply through the engine. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Limits, Tool } from '@mulligan/core'
import type { Repair } from '@mulligan/repair'
import { gateway, type LanguageModel, wrapLanguageModel } from 'ai'
import { createGate, type GateOptions } from './gate.ts'
import { middlewareOf, type Pipeline } from './middleware.ts'
import type { MulliganOptions, QuotedEvent } from './options.ts'
import { concluding, projected } from './prompt.ts'
import { streamRepairFor } from './repair-tool-calls.ts'
import type { Turn } from './turn.ts'

export interface StepOptions extends Pick<GateOptions, 'admit' | 'isForeign'> {
  readonly turn: Turn
  readonly tools: readonly Tool[]
  readonly options: MulliganOptions
  /** Why this is the last request of the turn. */
  readonly last: 'loop' | keyof Limits | undefined
}

export function stepModel(model: LanguageModel, step: StepOptions): LanguageModelV4 {
  const { turn, last, options } = step
  const observes = options.mode === 'observe'
  return wrapLanguageModel({
    // By its name, as the SDK resolves it.
    model: typeof model === 'string' ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) : model,
    middleware: {
      ...middlewareOf((params, second) => (observes ? watching(gateOf(params, step, true)) : gateOf(params, step, second))),
      transformParams: async ({ params }) => {
        turn.stopWith(params.abortSignal)
        if (observes) return params
        const prompt = await projected(params.prompt, new Set(params.tools?.map(({ name }) => name)), turn.projection)
        return { ...params, prompt: last ? concluding(prompt, last) : prompt }
      },
    },
  })
}

function gateOf(
  params: LanguageModelV4CallOptions,
  { turn, tools, options, last, admit, isForeign }: StepOptions,
  second: boolean,
): Pipeline {
  const repairs = new Map<string, Repair[]>()
  const { families, opensInReasoning = false, asks = true } = options
  const onQuoted = (quoted: QuotedEvent['quoted'], asked: boolean): void => {
    if (asked) turn.askedAgain()
    turn.emit({ type: 'message.quoted', quoted, asked })
  }
  const onRepair = (repair: Repair, { toolCallId: id }: { readonly toolCallId: string }): void => {
    repairs.set(id, [...(repairs.get(id) ?? []), repair])
  }
  const repairsOf = (id: string): readonly Repair[] => {
    const told = repairs.get(id) ?? []
    repairs.delete(id)
    return told
  }
  // In the last reply calls are looked for anyway: their markup is no answer.
  const request = last ? { ...params, toolChoice: { type: 'auto' as const } } : params
  const traitsOf = (name: string) => tools.find((tool) => tool.name === name) ?? {}
  const repair = streamRepairFor(
    request,
    { ...(families && { families }), opensInReasoning, onRepair, onQuoted, asks: asks && !last && !second && turn.mayAskAgain() },
    traitsOf,
  )
  return createGate({ params, repair, repairsOf, isForeign, admit, drops: last !== undefined })
}

/** Looks on: the reply goes by as it is. */
const watching = (gate: Pipeline): Pipeline => ({
  part: async (part) => {
    try {
      await gate.part(part)
    } catch {
      // Who looks on breaks nothing.
    }
    return [part]
  },
  end: () => [],
})
