/** Encodes replies as each provider does: whole, and as the chunks of a stream. */

export interface Part {
  readonly type: 'text' | 'thought' | 'hosted' | 'call'
  readonly text: string
  readonly id?: string
  readonly name?: string
}

export interface AnyReply {
  readonly parts: readonly Part[]
  readonly finish: string
}

export interface Format {
  readonly whole: (reply: AnyReply) => object
  readonly chunks: (reply: AnyReply) => readonly object[]
}

const finishIn = (names: Readonly<Record<string, string>>, { finish }: AnyReply): string => names[finish] ?? finish
/** The text in two pieces. */
const halves = (text: string): readonly string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)]
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const CHAT = { calls: 'tool_calls', cut: 'length', filtered: 'content_filter' }
const callIn = ({ id, name, text }: Part) => ({ id, type: 'function', function: { name, arguments: text } })
const chat: Format = {
  whole: (reply) => {
    const of = (wanted: string): readonly Part[] => reply.parts.filter(({ type }) => type === wanted)
    const joined = (type: string): string =>
      of(type)
        .map(({ text }) => text)
        .join('')
    const calls = of('call').map(callIn)
    const message = { role: 'assistant', content: joined('text') || null, reasoning_content: joined('thought') || null }
    return { choices: [{ index: 0, message: { ...message, tool_calls: calls }, finish_reason: finishIn(CHAT, reply) }] }
  },
  chunks: (reply) => {
    const chunk = (delta: object, finish: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason: finish }] })
    let index = -1
    return [
      chunk({ role: 'assistant', content: '' }),
      ...reply.parts.flatMap((part) => {
        if (part.type === 'text') return halves(part.text).map((content) => chunk({ content }))
        if (part.type === 'thought') return [chunk({ reasoning_content: part.text })]
        if (part.type === 'hosted') return []
        index++
        const [first, second] = halves(part.text)
        return [
          chunk({ tool_calls: [{ index, ...callIn({ ...part, text: first as string }) }] }),
          chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
        ]
      }),
      chunk({}, finishIn(CHAT, reply)),
      { choices: [], usage: { total_tokens: 10 } },
    ]
  },
}

const ANTHROPIC = { stop: 'end_turn', calls: 'tool_use', cut: 'max_tokens', filtered: 'refusal', paused: 'pause_turn' }
const blocksOf = ({ type, text, id, name }: Part, at: number): readonly Record<string, unknown>[] => {
  if (type === 'text') return [{ type, text, citations: null }]
  if (type === 'thought') return [{ type: 'redacted_thinking', data: `${text}${at}` }]
  if (type === 'call') return [{ type: 'tool_use', id, name, input: parsed(text) }]
  const use = { type: 'server_tool_use', id: `srvtoolu_${at}`, name: 'web_search', input: { query: 'tea' } }
  return [use, { type: 'web_search_tool_result', tool_use_id: use.id, content: [] }]
}
const anthropic: Format = {
  whole: (reply) => ({ type: 'message', content: reply.parts.flatMap(blocksOf), stop_reason: finishIn(ANTHROPIC, reply) }),
  chunks: (reply) => [
    { type: 'message_start', message: { content: [], usage: { input_tokens: 1 } } },
    ...reply.parts.flatMap(blocksOf).flatMap((block, index) => {
      const started =
        block['type'] === 'text' ? { ...block, text: '' } : /_use$/.test(block['type'] as string) ? { ...block, input: {} } : block
      const input = typeof block['input'] === 'string' ? block['input'] : JSON.stringify(block['input'])
      const deltas =
        block['type'] === 'text'
          ? halves(block['text'] as string).map((text) => ({ type: 'text_delta', text }))
          : started === block
            ? []
            : halves(input).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
      return [
        { type: 'content_block_start', index, content_block: started },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]
    }),
    { type: 'message_delta', delta: { stop_reason: finishIn(ANTHROPIC, reply) }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ],
}

const itemOf = ({ type, text, id, name }: Part, at: number): Record<string, unknown> => {
  if (type === 'text')
    return { type: 'message', id: `msg_${at}`, role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }
  if (type === 'thought') return { type: 'reasoning', id: `rs_${at}`, summary: [{ type: 'summary_text', text }] }
  if (type === 'hosted') return { type: 'web_search_call', id: `ws_${at}`, status: 'completed', action: { type: 'search', query: 'tea' } }
  return { type: 'function_call', id: `fc_${at}`, call_id: id, name, arguments: text }
}
let responses = 0
const output = (reply: AnyReply) => {
  const first = ++responses * 100
  // No reasoning item follows another.
  const parts = reply.parts.filter(({ type }, at) => type !== 'thought' || reply.parts[at - 1]?.type !== 'thought')
  return parts.map((part, at) => ({ part, item: itemOf(part, first + at) }))
}
const statusOf = ({ finish }: AnyReply) =>
  finish === 'cut' || finish === 'filtered'
    ? { status: 'incomplete', incomplete_details: { reason: finish === 'cut' ? 'max_output_tokens' : 'content_filter' } }
    : { status: 'completed' }
const responsesApi: Format = {
  whole: (reply) => ({ ...statusOf(reply), output: output(reply).map(({ item }) => item) }),
  chunks: (reply) => {
    const items = output(reply)
    return [
      { type: 'response.created', response: { output: [] } },
      ...items.flatMap(({ part, item }, output_index) => [
        {
          type: 'response.output_item.added',
          output_index,
          item: { ...item, ...(item['content'] ? { content: [] } : {}), ...('arguments' in item && { arguments: '' }) },
        },
        ...(item['type'] === 'message'
          ? halves(part.text).map((delta) => ({ type: 'response.output_text.delta', output_index, content_index: 0, delta }))
          : []),
        ...(item['type'] === 'function_call'
          ? halves(item['arguments'] as string).map((delta) => ({ type: 'response.function_call_arguments.delta', output_index, delta }))
          : []),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: `response.${statusOf(reply).status}`, response: { ...statusOf(reply), output: items.map(({ item }) => item) } },
    ]
  },
}

const SDK = { calls: 'tool-calls', cut: 'length', filtered: 'content-filter' }
const usable = ({ parts }: AnyReply) => parts.filter(({ id, name, type }) => type !== 'hosted' && (type !== 'call' || (id?.trim() && name)))
const contentOf = ({ type, text, id, name }: Part): object =>
  type === 'call'
    ? { type: 'tool-call', toolCallId: id, toolName: name, input: parsed(text) }
    : { type: type === 'thought' ? 'reasoning' : 'text', text }
const sdk: Format = {
  whole: (reply) => ({ content: usable(reply).map(contentOf), finishReason: finishIn(SDK, reply), usage: { totalTokens: 3 } }),
  chunks: (reply) => [
    { type: 'start' },
    { type: 'start-step' },
    ...usable(reply).flatMap((part, id): readonly object[] => {
      const kind = part.type === 'thought' ? 'reasoning' : 'text'
      if (part.type === 'call') return [contentOf(part)]
      return [
        { type: `${kind}-start`, id },
        ...halves(part.text).map((text) => ({ type: `${kind}-delta`, id, text })),
        { type: `${kind}-end`, id },
      ]
    }),
    { type: 'finish-step' },
    { type: 'finish', finishReason: finishIn(SDK, reply), totalUsage: { totalTokens: 3 } },
  ],
}

export const REPLIES: Readonly<Record<string, Format>> = {
  'chat completions': chat,
  responses: responsesApi,
  'Anthropic messages': anthropic,
  'AI SDK messages': sdk,
}
