/** Anthropic's messages. */
import { isRecord } from '@mulligan/repair'
import type { ContentPart } from '../result.ts'
import type { Api, Finish, Json, ReadPart, SentPart } from './api.ts'
import { chunkCheck, count, fields, objects, otherThan, reported, text, textOf } from './api.ts'

type MediaType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
type ResultBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: MediaType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string } }

type AnthropicBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content: string | ResultBlock[]; is_error?: true }

/** A message to append to the request's `messages`. */
export interface AnthropicMessage {
  role: 'user' | 'assistant'
  content: string | AnthropicBlock[]
}

export interface AnthropicRequest {
  tools?: { name: string; description: string; input_schema: { type: 'object'; [key: string]: unknown } }[]
  tool_choice?: { type: 'none' }
}

export interface AnthropicReply {
  readonly content: readonly object[]
  readonly stop_reason: string | null
  readonly usage?: object | null
}
export interface AnthropicEvent {
  readonly type: string
}

const FINISH: Readonly<Record<string, Finish>> = {
  max_tokens: 'cut',
  model_context_window_exceeded: 'cut',
  refusal: 'filtered',
  pause_turn: 'paused',
  unfinished: 'cut',
}

/** The format of `messages.create` in Anthropic's SDK. */
export const anthropicMessages: Api<AnthropicReply, AnthropicEvent, AnthropicMessage, AnthropicRequest> = {
  request: (tools, last) => ({
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: { ...inputSchema, type: 'object' } })),
    ...(last && { tool_choice: { type: 'none' } }),
  }),
  read: (reply) => {
    if (!isRecord(reply) || !Array.isArray(reply['content']) || !('stop_reason' in reply))
      throw otherThan("a message of Anthropic's API", reply)
    const { content, stop_reason: reason, usage } = reply as Json
    const { input_tokens: input, output_tokens: output } = fields(usage)
    const isOpen = reason === 'pause_turn' || reason === 'tool_use'
    const blocks = objects(content).filter((block, _, all) => isOpen || !isUnanswered(block, all))
    const parts = blocks.map(partOf)
    return {
      parts,
      finish: FINISH[text(reason)] ?? 'stop',
      tokens: count(input) + count(output),
      signed: parts.some(({ type }) => type === 'reasoning'),
    }
  },
  stream,
  write: (sent) => {
    const results = sent.filter((part) => part.type === 'call')
    if (sent.length === 0) return []
    const reply: AnthropicMessage = { role: 'assistant', content: sent.map(blockOf) }
    const blocks = results.map(
      ({ id, result, isError }): AnthropicBlock => ({
        type: 'tool_result',
        tool_use_id: id,
        content: contentOf(result),
        ...(isError && { is_error: true }),
      }),
    )
    return results.length === 0 ? [reply] : [reply, { role: 'user', content: blocks }]
  },
  say: (role, content) => ({ role, content }),
  ids: /^[a-zA-Z0-9_-]+$/,
}

/** A tool that the provider runs, in a reply that ended before its result. */
const isUnanswered = ({ type, id }: Json, blocks: readonly Json[]): boolean =>
  (type === 'server_tool_use' || type === 'mcp_tool_use') && !blocks.some((block) => block['tool_use_id'] === id)

function partOf(raw: Json): ReadPart {
  if (raw['type'] === 'text') return { type: 'text', text: text(raw['text']), raw }
  if (raw['type'] === 'thinking' || raw['type'] === 'redacted_thinking') return { type: 'reasoning', text: text(raw['thinking']), raw }
  if (raw['type'] !== 'tool_use') return { type: 'other', raw }
  const { name, input } = raw
  return { type: 'call', id: text(raw['id']), name: typeof name === 'string' ? name : null, input, raw }
}

function blockOf(part: SentPart): AnthropicBlock {
  if (part.type === 'text') return { ...withoutParsed(part.raw), type: 'text', text: part.text }
  if (part.type !== 'call') return part.raw as unknown as AnthropicBlock
  const { raw, id, name, input } = part
  return { ...raw, type: 'tool_use', id, name, input }
}

/** Without what Anthropic's SDK adds, which its server refuses. */
const withoutParsed = ({ parsed_output: _, ...raw }: Json = {}): Json => raw

const IMAGES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] satisfies MediaType[]

function contentOf(result: readonly ContentPart[]): string | ResultBlock[] {
  if (result.every(({ type }) => type === 'text')) return textOf(result)
  return result.map((part): ResultBlock => {
    if (part.type === 'text') return { type: 'text', text: part.text || '(empty)' }
    const { mediaType, data } = part
    if (IMAGES.includes(mediaType)) return { type: 'image', source: { type: 'base64', media_type: mediaType as MediaType, data } }
    if (mediaType === 'application/pdf') return { type: 'document', source: { type: 'base64', media_type: mediaType, data } }
    return { type: 'text', text: `[${mediaType}]` }
  })
}

const DELTAS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

function stream() {
  const blocks: { -readonly [key in keyof Json]: Json[key] }[] = []
  const places = new Map<unknown, number>()
  const check = chunkCheck("a stream of Anthropic's API")
  let usage: Json = {}
  let stop = 'unfinished'
  return {
    push: (event: AnthropicEvent) => {
      const { type, message, index, content_block: block, delta: given, usage: used, error } = fields(event)
      check.see(event, /^(?:message|content_block)_/.test(text(type)))
      if (type === 'error') throw reported(error)
      usage = { ...usage, ...fields(fields(message)['usage']), ...fields(used) }
      const delta = fields(given)
      stop = text(delta['stop_reason']) || stop
      if (type === 'content_block_start') places.set(index, blocks.push({ ...fields(block) }) - 1)
      const part = places.get(index) ?? -1
      const growing = blocks[part]
      if (type !== 'content_block_delta' || !growing) return undefined
      const key = DELTAS[text(delta['type'])]
      if (key !== undefined) growing[key] = text(growing[key]) + text(delta[key])
      if (delta['type'] === 'input_json_delta' && delta['partial_json'] !== '')
        growing['input'] = text(growing['input']) + text(delta['partial_json'])
      if (delta['type'] === 'citations_delta') growing['citations'] = [...objects(growing['citations']), delta['citation']]
      return key === 'text' ? { part, text: text(delta['text']) } : undefined
    },
    end: () => {
      check.end()
      for (const block of blocks)
        if (block['type'] !== 'tool_use' && typeof block['input'] === 'string') block['input'] = parsed(block['input'])
      return { content: blocks, stop_reason: stop, usage }
    },
  }
}

/** The input of a tool that the provider runs, which is sent back unchanged. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return {}
  }
}
