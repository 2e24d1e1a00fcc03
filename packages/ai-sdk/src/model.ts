/** The model of one step: bounds what is sent, and passes the calls of the reply through the engine. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Tool } from '@mulligan/core'
import { conclusion, partsOf } from '@mulligan/core/adapter'
import type { Repair } from '@mulligan/repair'
import { gateway, type LanguageModel, wrapLanguageModel } from 'ai'
import { createGate, type GateOptions } from './gate.ts'
import { middlewareOf, type Pipeline } from './middleware.ts'
import type { ConcludingEvent, MulliganOptions, QuotedEvent } from './options.ts'
import { instructed, projected } from './prompt.ts'
import { type RepairedCall, streamRepairFor } from './repair-tool-calls.ts'
import type { Traits } from './stream-repair.ts'
import type { Turn } from './turn.ts'

export interface StepOptions extends Pick<GateOptions, 'accept' | 'admit' | 'isForeign'> {
  readonly turn: Turn
  readonly tools: readonly Tool[]
  readonly options: MulliganOptions
  /** Why this is the last request of the turn. */
  readonly last: ConcludingEvent['by'] | undefined
}

export function stepModel(model: LanguageModel, step: StepOptions): LanguageModelV4 {
  const { turn, last, options } = step
  const observes = options.mode === 'observe'
  return wrapLanguageModel({
    // A name is resolved as the SDK resolves it.
    model: typeof model === 'string' ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) : model,
    middleware: {
      ...middlewareOf((params, second) => (observes ? watching(gateOf(params, step, true)) : gateOf(params, step, second))),
      transformParams: async ({ params }) => {
        turn.stopWith(params.abortSignal)
        if (observes) return params
        const prompt = await projected(params.prompt, new Set(params.tools?.map(({ name }) => name)), turn.projection)
        return { ...params, prompt: last ? instructed(prompt, conclusion(last)) : prompt }
      },
    },
  })
}

function gateOf(params: LanguageModelV4CallOptions, step: StepOptions, second: boolean): Pipeline {
  const { turn, tools, options, last, accept, admit, isForeign } = step
  const repairs = new Map<string, Repair[]>()
  // A second request would be one more than a healthy turn makes.
  const { families, opensInReasoning = false, asks = partsOf(options).isFull } = options
  const mayAsk = asks && !last && !second && turn.mayAskAgain()
  const repairOptions = {
    ...(families && { families }),
    opensInReasoning,
    asks: mayAsk,
    onRepair: (repair: Repair, { toolCallId: id }: RepairedCall) => void repairs.set(id, [...(repairs.get(id) ?? []), repair]),
    ...((mayAsk || options.onEvent) && {
      onQuoted: (quoted: QuotedEvent['quoted'], asked: boolean) => {
        if (asked) turn.askedAgain()
        turn.emit({ type: 'message.quoted', quoted, asked })
      },
    }),
  }
  const repairsOf = (id: string): readonly Repair[] => {
    const told = repairs.get(id) ?? []
    repairs.delete(id)
    return told
  }
  const traitsOf = (name: string): Traits => {
    const tool = tools.find((one) => one.name === name)
    return tool ? { ...tool, parameters: tool.check.strict } : {}
  }
  // The last reply is searched for calls too, because their markup is not an answer.
  const request = last ? { ...params, toolChoice: { type: 'auto' as const } } : params
  const repair = streamRepairFor(request, repairOptions, traitsOf)
  return createGate({
    params,
    repair,
    repairsOf,
    isForeign,
    accept,
    admit,
    readAs: turn.readAs,
    revoke: turn.revoke,
    drops: last !== undefined,
  })
}

/** Observes the reply without changing it. */
const watching = (gate: Pipeline): Pipeline => ({
  part: async (part) => {
    try {
      await gate.part(part)
    } catch {
      // Observing must not break a reply.
    }
    return [part]
  },
  end: () => [],
})
