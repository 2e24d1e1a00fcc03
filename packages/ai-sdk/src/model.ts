/** The model of one step: bounds what is sent, and passes the calls of the reply through the engine. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Tool } from '@mulligan/core'
import { conclusion, partsOf } from '@mulligan/core/adapter'
import type { Repair } from '@mulligan/repair'
import { gateway, type LanguageModel, wrapLanguageModel } from 'ai'
import { createGate, type GateOptions } from './gate.ts'
import { middlewareOf, type Pipeline } from './middleware.ts'
import type { ConcludingEvent, MulliganOptions, QuotedEvent, RepairedCall } from './options.ts'
import { instructed, isProjected, projected } from './prompt.ts'
import { streamRepairFor } from './repair-tool-calls.ts'
import type { readTools, Traits } from './stream-repair.ts'
import type { Turn } from './turn.ts'

export interface StepOptions extends Pick<GateOptions, 'accept' | 'admit' | 'isForeign'> {
  readonly turn: Turn
  readonly tools: readonly Tool[]
  readonly options: MulliganOptions
  readonly readTools: typeof readTools
  /** Why this is the last request of the turn. */
  readonly last: ConcludingEvent['by'] | undefined
}

/** Set here and not in the settings, with which the SDK throws even for a call that its provider has run. */
const NO_CALLS = { type: 'none' } as const

export function stepModel(model: LanguageModel, step: StepOptions): LanguageModelV4 {
  const { turn, tools, last, options } = step
  const observes = options.mode === 'observe'
  const target = resolvedModel(model)
  const { wrapGenerate, wrapStream } = middlewareOf((params, second) =>
    observes ? observing(gateOf(params, step, true)) : gateOf(params, step, second),
  )
  async function request(given: LanguageModelV4CallOptions) {
    turn.stopWith(given.abortSignal)
    // Only promises are awaited: an unnecessary await costs more than the work.
    const restarted = turn.restart()
    if (restarted) await restarted
    let { prompt } = given
    if (!observes) {
      const names = new Set([...tools, ...(given.tools ?? [])].map(({ name }) => name))
      if (!isProjected(prompt, names, turn.projection)) prompt = await projected(prompt, names, turn.projection)
      if (last) prompt = instructed(prompt, conclusion(last))
    }
    const params = { ...given, prompt, ...(last && { toolChoice: NO_CALLS }) }
    return { params, model: target, doGenerate: () => target.doGenerate(params), doStream: () => target.doStream(params) }
  }
  const { provider, modelId, supportedUrls } = target
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls,
    doGenerate: async (params) => wrapGenerate(await request(params)),
    doStream: async (params) => wrapStream(await request(params)),
  }
}

/** The model as the SDK resolves it: a name is looked up, and a model of an earlier specification converted. */
function resolvedModel(given: LanguageModel): LanguageModelV4 {
  const model = typeof given === 'string' ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(given) : given
  return model.specificationVersion === 'v4' ? model : wrapLanguageModel({ model, middleware: { specificationVersion: 'v4' } })
}

function gateOf(params: LanguageModelV4CallOptions, step: StepOptions, second: boolean): Pipeline {
  const { turn, tools, options, last, accept, admit, isForeign } = step
  const repairs = new Map<string, Repair[]>()
  // A second request would be one more than a healthy turn makes.
  const { isFull } = partsOf(options)
  const { families, opensInReasoning = false, asks = isFull } = options
  const mayAskAgain = asks && !last && !second && turn.mayAskAgain()
  const repairOptions = {
    ...(families && { families }),
    opensInReasoning,
    asks: mayAskAgain,
    onRepair: (repair: Repair, { toolCallId: id }: RepairedCall) => void repairs.set(id, [...(repairs.get(id) ?? []), repair]),
    ...((mayAskAgain || options.onEvent) && {
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
  const repair = streamRepairFor(request, repairOptions, traitsOf, step.readTools)
  return createGate({
    params,
    repair,
    repairsOf,
    isForeign,
    accept,
    admit,
    readAs: isFull ? turn.readAs : undefined,
    revoke: turn.revoke,
    drops: last !== undefined,
  })
}

/** Observes the reply without changing it. */
const observing = (gate: Pipeline): Pipeline => ({
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
