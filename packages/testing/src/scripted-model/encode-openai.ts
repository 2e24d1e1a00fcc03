/** A turn as OpenAI's chat completions send it. */
import { pieces, type ResolvedTurn, type ResponseMeta, type SseEvent } from './encode.ts'
import type { Json } from './json.ts'

/** The events of a streamed completion. */
export function encodeOpenAI(turn: ResolvedTurn, meta: ResponseMeta, includeUsage: boolean): SseEvent[] {
  const chunk = (delta: Json, mark?: SseEvent['mark'], finish: string | null = null): SseEvent => ({
    data: {
      ...header(meta, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(includeUsage ? { usage: null } : {}),
    },
    ...(mark ? { mark } : {}),
  })
  const events = [chunk({ role: 'assistant', content: '' })]
  for (const piece of pieces(turn.reasoning, 4)) events.push(chunk({ reasoning_content: piece }))
  for (const piece of turn.text) events.push(chunk({ content: piece }, 'text'))
  for (const [index, { id, name, text }] of turn.calls.entries()) {
    events.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }, 'call-start'))
    for (const piece of pieces(text, 4)) events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }, 'call'))
  }
  events.push(chunk({}, undefined, turn.finish))
  if (includeUsage) events.push({ data: { ...header(meta, 'chat.completion.chunk'), choices: [], usage: usage(turn) } })
  events.push({ data: '[DONE]' })
  return events
}

/** The body of a completion that is not streamed. */
export function openAIBody(turn: ResolvedTurn, meta: ResponseMeta): object {
  const message = {
    role: 'assistant',
    content: turn.text.length > 0 ? turn.text.join('') : null,
    ...(turn.reasoning === '' ? {} : { reasoning_content: turn.reasoning }),
    ...(turn.calls.length === 0
      ? {}
      : { tool_calls: turn.calls.map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } })) }),
  }
  return {
    ...header(meta, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: turn.finish }],
    usage: usage(turn),
  }
}

/** The answer to `GET /v1/models`. */
export function openAIModels(models: readonly string[]): object {
  return { object: 'list', data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'scripted' })) }
}

function header({ id, model, created }: ResponseMeta, object: string): Json {
  return { id: `chatcmpl-${id}`, object, created, model }
}

function usage({ usage: { input, output } }: ResolvedTurn): Json {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
