/** OpenAI's chat completions, which most servers of local models and many providers speak. */
import { isRecord } from '@mulligan/repair'
import type { Api, Finish, Json, ReadPart, SentCall } from './api.ts'
import { chunkCheck, count, fields, list, objects, otherThan, reported, text, textOf } from './api.ts'

export interface ChatToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** A message to append to the request's `messages`. */
export type ChatMessage =
  | { role: 'assistant'; content: string | null; tool_calls?: ChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'user'; content: string }

export interface ChatRequest {
  tools?: { type: 'function'; function: { name: string; description: string; parameters: Record<string, unknown> } }[]
  tool_choice?: 'none'
}

/** A completion or its choice. The usage is only in the completion, so pass that if tokens are limited. */
export type ChatReply =
  | { readonly choices: readonly object[]; readonly usage?: object | null }
  | { readonly message: object; readonly finish_reason?: string | null }
/** A chunk of a streamed completion. */
export interface ChatChunk {
  readonly choices: readonly object[]
}

const FINISH: Readonly<Record<string, Finish>> = { length: 'cut', content_filter: 'filtered', error: 'cut', unfinished: 'cut' }

/** The format of `chat.completions.create` in OpenAI's SDK, and of all servers that call themselves compatible with it. */
export const openaiChat: Api<ChatReply, ChatChunk, ChatMessage, ChatRequest> = {
  request: (tools, last) => ({
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: { ...inputSchema } },
    })),
    ...(last && { tool_choice: 'none' }),
  }),
  read: (reply) => {
    const { message, finish } = messageIn(reply)
    const calls = callsIn(message)
    const { usage } = fields(reply)
    return {
      parts: [
        { type: 'text', text: contentOf(message) || text(message['refusal']), raw: {} },
        ...reasoningIn(message),
        ...calls.map((raw): ReadPart => {
          const { name, arguments: input } = fields(raw['function'])
          return { type: 'call', id: text(raw['id']), name: typeof name === 'string' ? name : null, input, raw }
        }),
      ],
      finish: FINISH[finish] ?? 'stop',
      tokens: count(fields(usage)['total_tokens']),
      // Gemini signs calls in a field of its own.
      signed: calls.some((call) => 'extra_content' in call),
    }
  },
  stream,
  write: (sent, reply) => {
    const content = sent.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    const calls = sent.filter((part) => part.type === 'call')
    if (content === '' && calls.length === 0) return []
    const kept = Object.entries(messageIn(reply).message).filter(
      ([key, value]) => !NOT_KEPT.has(key) && value !== null && value !== undefined,
    )
    return [
      {
        ...Object.fromEntries(kept),
        role: 'assistant',
        content: content || null,
        ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
      },
      ...calls.map(({ id, result }) => ({ role: 'tool' as const, tool_call_id: id, content: textOf(result) })),
    ]
  },
  say: (role, content) => ({ role, content }),
}

/** Fields of a reply's message that are written anew, or were added by OpenAI's SDK and are refused by its server. */
const NOT_KEPT: ReadonlySet<string> = new Set(['role', 'content', 'refusal', 'tool_calls', 'function_call', 'parsed'])

const callOf = ({ id, name, text, raw }: SentCall): ChatToolCall => ({
  ...raw,
  id,
  type: 'function',
  function: { name, arguments: text },
})

function messageIn(reply: ChatReply): { readonly message: Json; readonly finish: string } {
  const { choices = [reply] } = fields(reply)
  const { message, finish_reason: finish } = fields(list(choices)[0])
  if (!isRecord(message)) throw otherThan('a chat completion or its choice', reply)
  return { message, finish: text(finish) }
}

const reasoningIn = (message: Json): ReadPart[] => {
  const thought = text(message['reasoning_content']) || text(message['reasoning'])
  return thought === '' ? [] : [{ type: 'reasoning', text: thought, raw: {} }]
}

/** Some servers send the content in parts. */
const contentOf = ({ content }: Json): string =>
  typeof content === 'string'
    ? content
    : objects(content)
        .map((part) => text(part['text']))
        .join('')

/** The calls, including one of the old kind, `function_call`. */
const callsIn = ({ tool_calls: calls, function_call: legacy }: Json): readonly Json[] =>
  objects(calls).length > 0 || !isRecord(legacy) ? objects(calls) : [{ function: legacy }]

function stream() {
  const message: Record<string, unknown> = {}
  const calls: { -readonly [key in keyof Json]: Json[key] }[] = []
  const indexes: unknown[] = []
  let finish: unknown
  let usage: unknown
  const check = chunkCheck('a stream of chat completions')

  /** Adds a piece to a call. A name begins a new one, unless it belongs to the call at its index. */
  function addCall({ index, ...entry }: Json): void {
    const at = index === undefined ? calls.length - 1 : indexes.lastIndexOf(index)
    const call = calls[at]
    const { name, arguments: input } = fields(entry['function'])
    const isOther = call && text(entry['id']) !== '' && entry['id'] !== call['id'] && text(name) !== ''
    if (!call || isOther) {
      calls.push({ ...entry, function: { ...fields(entry['function']), arguments: input ?? '' } })
      indexes.push(index)
      return
    }
    const called = fields(call['function'])
    const joined = typeof input === 'string' ? text(called['arguments']) + input : (input ?? called['arguments'])
    call['function'] = { ...called, name: text(called['name']) || name, arguments: joined }
  }

  function add(delta: Json): void {
    const { tool_calls: given, function_call: legacy, ...rest } = delta
    for (const entry of objects(given)) addCall(entry)
    if (isRecord(legacy)) addCall({ function: legacy })
    for (const [key, value] of Object.entries(rest)) {
      const before = message[key]
      if (typeof before === 'string' && typeof value === 'string' && key !== 'role') message[key] = before + value
      else if (Array.isArray(before) && Array.isArray(value)) message[key] = [...before, ...value]
      else if (value !== null && value !== undefined) message[key] = value
    }
  }

  return {
    push: (chunk: ChatChunk) => {
      const { error, ...rest } = fields(chunk)
      check.see(chunk, Array.isArray(rest['choices']))
      if (error) throw reported(error)
      usage = rest['usage'] ?? usage
      const choice = objects(rest['choices']).find(({ index = 0 }) => index === 0)
      if (!choice) return undefined
      const delta = fields(choice['delta'])
      add(delta)
      finish = choice['finish_reason'] ?? finish
      return { part: 0, text: contentOf(delta) || text(delta['refusal']) }
    },
    end: () => {
      check.end()
      const choice = {
        message: { ...message, ...(calls.length > 0 && { tool_calls: calls }) },
        finish_reason: text(finish) || 'unfinished',
      }
      return { choices: [choice], usage: fields(usage) }
    },
  }
}
