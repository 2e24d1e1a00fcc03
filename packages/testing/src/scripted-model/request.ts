/** What a scripted model keeps of each request, and how a test reads it the same way for all protocols. */
import { asArray, asObject, type Json } from './json.ts'

/** Which of them a request spoke; `ollama` is Ollama's own API. */
export type Protocol = 'openai' | 'anthropic' | 'ollama'

/** One request for a completion. */
export interface RecordedRequest {
  /** From 1, in order of arrival. */
  readonly n: number
  readonly protocol: Protocol
  readonly path: string
  /** As they came, keys lower case. **Credentials are kept**, so that a test can check them: do not print these. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body; `undefined` when it is not valid JSON. */
  readonly body: unknown
  readonly bodyText: string
  /** The client went away before the response was complete. Certain once `model.idle()` has resolved. */
  readonly aborted: boolean
  /** Ollama: tokens of the prompt, when it did not fit and less of it was read. */
  readonly cut?: { readonly sent: number; readonly read: number }
}

/** Something that must not happen: a request that a provider would refuse, a request too many, an `expect` that threw. */
export interface Violation {
  /** The request's number. */
  readonly request: number
  readonly message: string
}

/** One tool result as the model reads it. */
export interface SeenToolResult {
  readonly id: string
  /** Of the call it answers. */
  readonly name?: string
  /** Its text parts, joined. */
  readonly text: string
  /** Only Anthropic has the flag. */
  readonly isError?: boolean
}

/**
 * The newest tool results in a request: those that answer the last calls in its history.
 *
 * @example
 * // issues the call that the last result suggests
 * { calls: (request) => [JSON.parse(lastToolResults(request)[0].text).details.call] }
 */
export function lastToolResults(request: Pick<RecordedRequest, 'protocol' | 'body'>): SeenToolResult[] {
  const messages = asArray(asObject(request.body)['messages']).map(asObject)
  return { openai: fromOpenAI, anthropic: fromAnthropic, ollama: fromOllama }[request.protocol](messages)
}

function fromOpenAI(messages: readonly Json[]): SeenToolResult[] {
  const end = messages.findLastIndex((message) => message['role'] === 'tool') + 1
  const start = messages.slice(0, end).findLastIndex((message) => message['role'] !== 'tool')
  const names = new Map(
    asArray(asObject(messages[start])['tool_calls']).map((call) => [asObject(call)['id'], asObject(asObject(call)['function'])['name']]),
  )
  return messages
    .slice(start + 1, end)
    .map((message) => seen(message['tool_call_id'], names.get(message['tool_call_id']), message['content']))
}

function fromAnthropic(messages: readonly Json[]): SeenToolResult[] {
  const blocksAt = (at: number): Json[] => asArray(asObject(messages[at])['content']).map(asObject)
  const at = messages.findLastIndex((_, index) => blocksAt(index).some((block) => block['type'] === 'tool_result'))
  const names = new Map(blocksAt(at - 1).map((block) => [block['id'], block['name']]))
  return blocksAt(at)
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => ({
      ...seen(block['tool_use_id'], names.get(block['tool_use_id']), block['content']),
      isError: block['is_error'] === true,
    }))
}

/** By their order: only newer ones have the ids of their calls. */
function fromOllama(messages: readonly Json[]): SeenToolResult[] {
  const end = messages.findLastIndex((message) => message['role'] === 'tool') + 1
  const start = messages.slice(0, end).findLastIndex((message) => message['role'] !== 'tool')
  return messages.slice(start + 1, end).map((message) => seen(message['tool_call_id'] ?? '', message['tool_name'], message['content']))
}

function seen(id: unknown, name: unknown, content: unknown): SeenToolResult {
  const text =
    typeof content === 'string'
      ? content
      : asArray(content)
          .map((part) => asObject(part)['text'])
          .filter((part) => typeof part === 'string')
          .join('')
  return { id: String(id), text, ...(typeof name === 'string' ? { name } : {}) }
}
