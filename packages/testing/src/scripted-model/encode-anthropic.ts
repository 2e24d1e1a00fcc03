/** A turn as Anthropic's messages send it. The signature of its thinking is made by the caller. */
import { pieces, type ResolvedTurn, type ResponseMeta, type SseEvent } from './encode.ts'
import type { Json } from './json.ts'

/** The events of a streamed message. */
export function encodeAnthropic(turn: ResolvedTurn, meta: ResponseMeta, signature: string): SseEvent[] {
  const events: SseEvent[] = []
  const send = (data: Json & { readonly type: string }, mark?: SseEvent['mark']): void => {
    events.push({ event: data.type, data, ...(mark ? { mark } : {}) })
  }
  let index = 0
  const block = (start: Json, mark: SseEvent['mark'], deltas: readonly (readonly [Json, SseEvent['mark']])[]): void => {
    send({ type: 'content_block_start', index, content_block: start }, mark)
    for (const [delta, deltaMark] of deltas) send({ type: 'content_block_delta', index, delta }, deltaMark)
    send({ type: 'content_block_stop', index })
    index += 1
  }
  const { input, output } = turn.usage
  const empty = { ...header(meta), content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: input, output_tokens: 1 } }
  send({ type: 'message_start', message: empty })
  send({ type: 'ping' })
  if (turn.reasoning !== '') {
    const thinking = pieces(turn.reasoning, 4).map((piece) => [{ type: 'thinking_delta', thinking: piece }, undefined] as const)
    block({ type: 'thinking', thinking: '', signature: '' }, undefined, [...thinking, [{ type: 'signature_delta', signature }, undefined]])
  }
  if (turn.text.join('') !== '') {
    const text = turn.text.map((piece) => [{ type: 'text_delta', text: piece }, 'text'] as const)
    block({ type: 'text', text: '' }, undefined, text)
  }
  for (const call of turn.calls) {
    const json = pieces(call.text, 4).map((piece) => [{ type: 'input_json_delta', partial_json: piece }, 'call'] as const)
    block({ type: 'tool_use', id: call.id, name: call.name, input: {} }, 'call-start', [
      [{ type: 'input_json_delta', partial_json: '' }, undefined],
      ...json,
    ])
  }
  send({ type: 'message_delta', delta: { stop_reason: turn.finish, stop_sequence: null }, usage: { output_tokens: output } })
  send({ type: 'message_stop' })
  return events
}

/** The body of a message that is not streamed. A call whose text is not an object has the text itself as input. */
export function anthropicBody(turn: ResolvedTurn, meta: ResponseMeta, signature: string): object {
  const text = turn.text.join('')
  const content: Json[] = []
  if (turn.reasoning !== '') content.push({ type: 'thinking', thinking: turn.reasoning, signature })
  if (text !== '') content.push({ type: 'text', text })
  for (const { id, name, input } of turn.calls) content.push({ type: 'tool_use', id, name, input })
  const { input, output } = turn.usage
  return {
    ...header(meta),
    content,
    stop_reason: turn.finish,
    stop_sequence: null,
    usage: { input_tokens: input, output_tokens: output },
  }
}

/** The answer to `GET /v1/models`. */
export function anthropicModels(models: readonly string[]): object {
  const data = models.map((id) => ({ type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }))
  return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null }
}

function header({ id, model }: ResponseMeta): Json {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model }
}
