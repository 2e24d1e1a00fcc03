/** A model whose replies pass through the engine. */
import type { FrameworkTurn } from '@mulligan/core/adapter'
import {
  type AgentOutputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  Usage,
  type UsageInput,
} from '@openai/agents'
import {
  asMade,
  idsIn,
  instructed,
  isCutShort,
  isMessage,
  mapText,
  reportedCalls,
  withCalls,
  withoutEmpty,
  withReasoning,
  withText,
} from './items.ts'
import { frameworkTools } from './tools.ts'

/** Finds the turn of a request, and the request without the tool of refused calls. */
export type FindTurn = (request: ModelRequest) => { readonly turn: FrameworkTurn; readonly request: ModelRequest } | undefined
type Shown = { readonly text: string; readonly reasoning: string }
type Done = Extract<StreamEvent, { readonly type: 'response_done' }>

export function repairedModel(model: Model, find: FindTurn): Model {
  const repaired: Model = {
    getResponse: async (given) => {
      const found = find(given)
      return found ? whole(model, found.turn, found.request) : model.getResponse(given)
    },
    getStreamedResponse: (given) => {
      const found = find(given)
      return found ? streamed(model, found.turn, found.request) : model.getStreamedResponse(given)
    },
  }
  return Object.create(model, {
    ...Object.getOwnPropertyDescriptors(repaired),
    // A method of a class with private fields has to be called on its own object.
    ...(model.getRetryAdvice && { getRetryAdvice: { value: model.getRetryAdvice.bind(model) } }),
  }) as Model
}

/** The request as it is sent, and the reader of its reply. */
function begin(turn: FrameworkTurn, given: ModelRequest, isSecond: boolean) {
  // What is added to a conversation that the server keeps would stay in it.
  const isKept = given.conversationId !== undefined || given.previousResponseId !== undefined
  const { conclude, reply } = turn.request({
    tools: frameworkTools(given),
    ids: idsIn(given.input),
    signal: given.signal,
    isSecond: isSecond || isKept,
  })
  const input = asMade(given.input)
  if (conclude === undefined) return { reply, request: { ...given, input } }
  const modelSettings = { ...given.modelSettings, toolChoice: 'none' as const }
  return { reply, request: { ...given, input: instructed(input, conclude), modelSettings } }
}

async function whole(model: Model, turn: FrameworkTurn, given: ModelRequest, isSecond = false): Promise<ModelResponse> {
  const { reply, request } = begin(turn, given, isSecond)
  const response = await model.getResponse(request)
  turn.spend(response.usage.totalTokens)
  let reasoning = ''
  const take = (shown: Shown): string => {
    reasoning += shown.reasoning
    return shown.text
  }
  const shown = mapText(response.output, (text) => take(reply.text(text)) + take(reply.endText()))
  const { calls, again, ...rest } = await reply.end(reportedCalls(response.output), { cutShort: isCutShort(response.providerData) })
  const output = withReasoning(withCalls(withText(shown, take(rest)), calls), reasoning)
  if (again === undefined) return { ...response, output }
  const second = await whole(model, turn, { ...given, input: instructed(given.input, again) }, true)
  response.usage.add(second.usage)
  return { ...second, usage: response.usage, output: [...withoutEmpty(output), ...second.output] }
}

async function* streamed(model: Model, turn: FrameworkTurn, given: ModelRequest, isSecond = false): AsyncGenerator<StreamEvent> {
  const { reply, request } = begin(turn, given, isSecond)
  let cutShort = false
  let reasoning = ''
  /** The text as it was shown, to find it again in the complete reply. */
  let shown = ''
  const delta = (part: Shown, like: object = {}): readonly StreamEvent[] => {
    reasoning += part.reasoning
    shown += part.text
    return part.text === '' ? [] : [{ ...like, type: 'output_text_delta', delta: part.text }]
  }
  for await (const event of model.getStreamedResponse(request)) {
    if (event.type === 'model') cutShort ||= isCutShort(event.event)
    if (event.type === 'output_text_delta') yield* delta(reply.text(event.delta), event)
    else if (event.type !== 'response_done') yield event
    else {
      yield* delta(reply.endText())
      const { response } = event
      turn.spend(response.usage.totalTokens)
      const reported = reportedCalls(response.output)
      const { calls, again, ...rest } = await reply.end(reported, { cutShort: cutShort || isCutShort(response.providerData) })
      yield* delta(rest)
      const output = withReasoning(withCalls(withShown(response.output, shown), calls), reasoning)
      if (again === undefined) yield { ...event, response: { ...response, output: output as Done['response']['output'] } }
      else {
        const next = { ...given, input: instructed(given.input, again) }
        for await (const more of streamed(model, turn, next, true)) {
          if (more.type === 'response_done') yield joined(response, withoutEmpty(output), more)
          else if (more.type !== 'response_started') yield more
        }
      }
    }
  }
}

/** The output with the text that was shown, in the place of its own. */
function withShown(output: readonly AgentOutputItem[], shown: string): AgentOutputItem[] {
  const texts = output.filter(isMessage).flatMap(({ content }) => content.filter(({ type }) => type === 'output_text'))
  let left = shown
  let nth = 0
  const items = mapText(output, (text) => {
    const own = ++nth === texts.length ? left : left.slice(0, text.length)
    left = left.slice(own.length)
    return own
  })
  return withText(items, left)
}

function joined(first: Done['response'], before: readonly AgentOutputItem[], { response, ...event }: Done): Done {
  const usage = new Usage(first.usage as UsageInput)
  usage.add(new Usage(response.usage as UsageInput))
  return { ...event, response: { ...response, usage, output: [...before, ...response.output] } } as unknown as Done
}
