/** OpenAI's responses. */
import { isRecord } from '@mulligan/repair'
import type { ContentPart } from '../result.ts'
import type { Api, Finish, Json, ReadPart, SentPart } from './api.ts'
import { chunkCheck, count, fields, objects, otherThan, reported, text, textOf } from './api.ts'

type OutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; file_data: string; filename: string }

/** An item to append to the request's `input`. */
export type ResponsesItem =
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | OutputPart[] }
  | { type?: 'message'; role: 'user' | 'assistant'; content: string }

export interface ResponsesRequest {
  tools?: { type: 'function'; name: string; description: string; parameters: Record<string, unknown>; strict: boolean }[]
  tool_choice?: 'none'
}

export interface ResponsesReply {
  readonly output: readonly object[]
  readonly status?: string
  readonly incomplete_details?: object | null
  readonly usage?: object | null
}
export interface ResponsesEvent {
  readonly type: string
}

/** The format of `responses.create` in OpenAI's SDK. */
export const openaiResponses: Api<ResponsesReply, ResponsesEvent, ResponsesItem, ResponsesRequest> = {
  request: (tools, last) => ({
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: { ...inputSchema },
      strict: false,
    })),
    ...(last && { tool_choice: 'none' }),
  }),
  read: (reply) => {
    if (!isRecord(reply) || !Array.isArray(reply['output'])) throw otherThan('a response', reply)
    const { output, status, error, incomplete_details: details, usage } = reply as Json
    if (status === 'failed') throw reported(error)
    const parts = objects(output).map(partOf)
    return {
      parts,
      finish: status === 'incomplete' ? (FINISH[text(fields(details)['reason'])] ?? 'cut') : 'stop',
      tokens: count(fields(usage)['total_tokens']),
      // A reasoning item is only accepted together with the item that followed it.
      signed: parts.some(({ type }) => type === 'reasoning'),
    }
  },
  stream,
  write: (sent) => [
    ...sent.flatMap(itemOf),
    ...sent.flatMap((part): ResponsesItem[] =>
      part.type === 'call' ? [{ type: 'function_call_output', call_id: part.id, output: outputOf(part.result) }] : [],
    ),
  ],
  say: (role, content) => ({ role, content }),
  // LiteLLM puts Gemini's signature into the id.
  ids: /^(?:.{1,64}|.*__thought__.*)$/s,
}

const FINISH: Readonly<Record<string, Finish>> = { content_filter: 'filtered' }

function partOf(raw: Json): ReadPart {
  // A blank message may be what a reasoning item requires after it.
  const isBlank = contentOf(raw).trim() === '' && raw['id'] !== undefined && objects(raw['content']).length > 0
  if (raw['type'] === 'message' && !isBlank) return { type: 'text', text: contentOf(raw), raw }
  if (raw['type'] === 'reasoning')
    return {
      type: 'reasoning',
      text: objects(raw['summary'])
        .map((one) => text(one['text']))
        .join('\n'),
      raw,
    }
  if (raw['type'] !== 'function_call') return { type: 'other', raw }
  const { name } = raw
  return { type: 'call', id: text(raw['call_id']), name: typeof name === 'string' ? name : null, input: raw['arguments'], raw }
}

const contentOf = ({ content }: Json): string =>
  objects(content)
    .map((part) => text(part['text'] ?? part['refusal']))
    .join('')

function itemOf(part: SentPart): ResponsesItem[] {
  if (part.type === 'call') {
    const item = { type: 'function_call' as const, call_id: part.id, name: part.name, arguments: part.text }
    const { id, parsed_arguments: _, ...raw } = part.raw ?? {}
    // A changed call is another item.
    const isSame = raw['call_id'] === item.call_id && raw['name'] === item.name && raw['arguments'] === item.arguments
    return [{ ...raw, ...(isSame && id !== undefined && { id }), ...item }]
  }
  if (part.type !== 'text') return [part.raw as unknown as ResponsesItem]
  // Unchanged text keeps its item, which may contain annotations.
  const isSame = part.raw?.['id'] !== undefined && contentOf(part.raw) === part.text
  if (!isSame) return [{ type: 'message', role: 'assistant', content: part.text }]
  const content = objects(part.raw?.['content']).map(({ parsed: _, ...one }) => one)
  return [{ ...part.raw, content } as unknown as ResponsesItem]
}

function outputOf(result: readonly ContentPart[]): string | OutputPart[] {
  if (result.every(({ type }) => type === 'text')) return textOf(result)
  return result.map((part) => {
    if (part.type === 'text') return { type: 'input_text', text: part.text }
    const url = `data:${part.mediaType};base64,${part.data}`
    if (part.mediaType.startsWith('image/')) return { type: 'input_image', image_url: url, detail: 'auto' }
    return { type: 'input_file', file_data: url, filename: `file.${part.mediaType.replace(/^.*\//, '')}` }
  })
}

/** An item that has not ended. Only its text and its call are used: the provider does not know its id. */
const UNKNOWN: Json = { type: 'message', role: 'assistant', content: [] }

function stream() {
  const items: Json[] = []
  const places = new Map<unknown, number>()
  const check = chunkCheck('a stream of responses')
  let ended: unknown
  return {
    push: (event: ResponsesEvent) => {
      const { type, delta, output_index: index, item, response, error, message } = fields(event)
      check.see(event, text(type).startsWith('response.'))
      if (type === 'error') throw reported(error ?? message)
      if (type === 'response.failed') throw reported(fields(response)['error'])
      if (type === 'response.completed' || type === 'response.incomplete') ended = response
      if (index === undefined) return undefined
      const part = places.get(index) ?? items.length
      places.set(index, part)
      const before = items[part] ?? UNKNOWN
      const isText = type === 'response.output_text.delta' || type === 'response.refusal.delta'
      if (type === 'response.output_item.done' && isRecord(item)) items[part] = item
      else if (isText) items[part] = { ...UNKNOWN, content: [{ type: 'output_text', text: contentOf(before) + text(delta) }] }
      else if (type === 'response.output_item.added' && fields(item)['type'] === 'function_call')
        items[part] = { ...fields(item), id: undefined }
      else if (type === 'response.function_call_arguments.delta')
        items[part] = { ...before, arguments: text(before['arguments']) + text(delta) }
      else items[part] = before
      return isText ? { part, text: text(delta) } : undefined
    },
    end: () => {
      check.end()
      const { output, ...response } = fields(ended)
      return { status: 'incomplete', ...response, output: objects(output).length > 0 ? objects(output) : items }
    },
  }
}
