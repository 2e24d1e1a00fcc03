/** A model whose replies pass through the engine. */
import { type FrameworkCall, type FrameworkReply, type FrameworkTurn, REFUSED } from '@mulligan/core/adapter'
import {
  asMade,
  type CallPart,
  callPart,
  idsIn,
  inputParts,
  instructed,
  isCall,
  type ModelOptions,
  type Part,
  reasonOf,
  reportedCall,
  sum,
  tokensOf,
  withReason,
} from './parts.ts'

type Request = (options: ModelOptions) => PromiseLike<{ readonly stream: ReadableStream<Part> }>
type Shown = { readonly text: string; readonly reasoning: string }

/** Reasons to end a reply that was not complete. */
const CUT_SHORT = /^(?:length|content-filter|error)$/

/** @param admitted is called with the calls of each reply */
export function repairedModel<Model extends object>(
  model: Model,
  turn: FrameworkTurn,
  admitted: (calls: readonly FrameworkCall[]) => Promise<void>,
): Model {
  const own = (method: 'doStream' | 'doGenerate') => async (options: ModelOptions) => {
    const send = ((model as Record<string, unknown>)[method] as Request).bind(model)
    return reply(send, turn, options, admitted, false)
  }
  const methods: Readonly<Record<string, unknown>> = { doStream: own('doStream'), doGenerate: own('doGenerate') }
  return new Proxy(model, {
    get: (target, key) => {
      if (typeof key === 'string' && Object.hasOwn(methods, key)) return methods[key]
      const value: unknown = Reflect.get(target, key, target)
      // Mastra's models have private fields.
      return typeof value === 'function' && key !== 'constructor' ? value.bind(target) : value
    },
  })
}

/** Mastra's models return a stream in either case. */
async function reply(
  send: Request,
  turn: FrameworkTurn,
  given: ModelOptions,
  admitted: (calls: readonly FrameworkCall[]) => Promise<void>,
  isSecond: boolean,
) {
  const tools = given.tools?.filter(({ name }) => name !== REFUSED)
  const { conclude, reply: reader } = turn.request({
    tools: (tools ?? []).flatMap(({ type, name, inputSchema }) => (type === 'function' ? [{ name, input: inputSchema }] : [])),
    ids: idsIn(given.prompt),
    signal: given.abortSignal,
    isSecond,
  })
  const prompt = asMade(given.prompt)
  const result = await send({
    ...given,
    prompt: conclude === undefined ? prompt : instructed(prompt, conclude),
    ...(tools && { tools: tools.length > 0 ? tools : undefined }),
    ...(conclude !== undefined && { toolChoice: { type: 'none' } }),
  } as ModelOptions)
  const again = async function* (told: string, first: Part): AsyncGenerator<Part> {
    const next = { ...given, prompt: instructed(given.prompt, told) }
    const { stream } = await reply(send, turn, next, admitted, true)
    for await (const part of stream as unknown as AsyncIterable<Part>) yield* continued(part, first)
  }
  const stream = result.stream.pipeThrough(repaired(reader, turn, new Set(tools?.map(({ name }) => name)), admitted, again))
  return { ...result, stream }
}

/** A part of a second reply, as a further part of the first. Texts of the two must not share an id. */
function continued(part: Part, first: Part): readonly Part[] {
  if (part.type === 'stream-start') return []
  if (part.type === 'finish') return [{ ...part, usage: sum(first.usage, part.usage) as NonNullable<Part['usage']> }]
  return [/^(?:text|reasoning)-/.test(part.type) ? { ...part, id: `again-${part.id}` } : part]
}

function repaired(
  reader: FrameworkReply,
  turn: FrameworkTurn,
  names: ReadonlySet<string>,
  admitted: (calls: readonly FrameworkCall[]) => Promise<void>,
  again: (told: string, first: Part) => AsyncGenerator<Part>,
): TransformStream<Part, Part> {
  const reported: CallPart[] = []
  /** The parts of inputs that wait for their call to be read, by id. Mastra makes the call itself when its input has ended. */
  const held = new Map<string, Part[]>()
  /** Precedes the first text, so that a part that contains only markup is dropped. */
  let starting: Part | undefined
  let isBlank = true

  /** The text to show, as a part like this one. */
  function shown({ text, reasoning }: Shown, like: Part): readonly Part[] {
    const parts: Part[] = []
    if (reasoning !== '') parts.push(...textParts('reasoning', reasoning))
    if (text === '') return parts
    if (starting) parts.push(starting)
    starting = undefined
    return [...parts, { ...like, type: 'text-delta', delta: text }]
  }

  async function* handle(part: Part): AsyncGenerator<Part> {
    switch (part.type) {
      case 'text-start':
        starting = part
        isBlank = true
        return
      case 'text-delta':
        isBlank &&= part.delta === ''
        yield* shown(reader.text(part.delta ?? ''), part)
        return
      case 'text-end': {
        yield* shown(reader.endText(), { type: 'text-delta', ...(part.id !== undefined && { id: part.id }) })
        if (starting && isBlank) yield starting
        if (!starting || isBlank) yield part
        starting = undefined
        return
      }
      case 'reasoning-delta':
        reader.reasoning(part.delta ?? '')
        break
      case 'tool-input-start':
        if (part.providerExecuted || part.id === undefined) break
        held.set(part.id, names.has(part.toolName ?? '') ? [] : [part])
        if (names.has(part.toolName ?? '')) break
        return
      case 'tool-input-delta':
      case 'tool-input-end': {
        const waiting = held.get(part.id ?? '')
        if (!waiting || (waiting.length === 0 && part.type === 'tool-input-delta')) break
        waiting.push(part)
        return
      }
      case 'finish':
        yield* finish(part)
        return
    }
    if (isCall(part)) reported.push(part)
    else yield part
  }

  async function* finish(part: Part): AsyncGenerator<Part> {
    turn.spend(tokensOf(part))
    const reason = reasonOf(part)
    const { text, reasoning, calls, again: told } = await reader.end(reported.map(reportedCall), { cutShort: CUT_SHORT.test(reason) })
    if (reasoning !== '') yield* textParts('reasoning', reasoning)
    if (text !== '') yield* textParts('text', text)
    await admitted(calls)
    for (const call of calls) {
      const given = call.reported === undefined ? undefined : reported[call.reported]
      const own = callPart(call, given)
      const waiting = given && held.get(given.toolCallId)
      if (own === given) yield* waiting ?? []
      // The beginning of an input that was shown stays; what is made is the call.
      else if (!waiting || waiting[0]?.type === 'tool-input-start' || given.toolCallId !== own.toolCallId) yield* inputParts(own)
      yield own
    }
    if (told !== undefined) yield* again(told, part)
    else if (calls.length > 0 && /^(?:stop|length|other|unknown)$/.test(reason)) yield withReason(part, 'tool-calls')
    else yield calls.length === 0 && reason === 'tool-calls' && reported.length > 0 ? withReason(part, 'stop') : part
  }

  return new TransformStream({
    transform: async (part, controller) => {
      for await (const one of handle(part)) controller.enqueue(one)
    },
  })
}

function textParts(type: 'text' | 'reasoning', delta: string): readonly Part[] {
  const id = `${type}_${crypto.randomUUID()}`
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta },
    { type: `${type}-end`, id },
  ]
}
