/** Anthropic's messages: the replies, and the rules by which a request is refused, with the original messages where they are known. */
import { z } from 'zod'
import { asArray, asObject, type Json } from './json.ts'
import { seenResult } from './openai.ts'
import type { Issue, ResolvedTurn, ResponseMeta, Rules, StreamEvent, Wire } from './protocol.ts'
import { EVENT_STREAM, firstProblem, pieces, schemaProblems } from './protocol.ts'
import type { SeenToolResult } from './request.ts'
import { thinkingProblems } from './signature.ts'

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

export const anthropic: Wire = {
  route: '/messages',
  idPrefix: 'toolu_',
  headers: EVENT_STREAM,
  isStreamed: ({ stream }) => stream === true,
  events,
  frame: (data) => `event: ${asObject(data)['type']}\ndata: ${JSON.stringify(data)}\n\n`,
  body: ({ text, reasoning, calls, finish, usage }, meta) => ({
    ...header(meta),
    content: [
      ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: meta.signature }]),
      ...(text.join('') === '' ? [] : [{ type: 'text', text: text.join('') }]),
      ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ],
    stop_reason: finish,
    stop_sequence: null,
    usage: { ...inputOf(usage), output_tokens: usage.output },
  }),
  error: (status, message) => {
    const type = ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
    return { type: 'error', error: { type, message } }
  },
  models: (names) => ({
    data: names.map((id) => ({ type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' })),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  }),
  problem: ({ headers, body }, rules) => {
    if (!headers['x-api-key'] && !headers['authorization']) return { status: 401, message: 'x-api-key header is required' }
    return headers['anthropic-version'] ? firstProblem(problems(body, rules)) : firstProblem(['anthropic-version: header is required'])
  },
  results,
}

const header = ({ id, model }: ResponseMeta): Json => ({ id: `msg_${id}`, type: 'message', role: 'assistant', model })

/** The input tokens do not include those from the cache. */
const inputOf = ({ input, cached }: ResolvedTurn['usage']): Json =>
  cached === undefined ? { input_tokens: input } : { input_tokens: input - cached, cache_read_input_tokens: cached }

function events(turn: ResolvedTurn, meta: ResponseMeta): StreamEvent[] {
  const { output } = turn.usage
  const blocks: StreamEvent[][] = []
  const block = (start: Json, mark: StreamEvent['mark'], deltas: readonly StreamEvent[]): void => {
    const index = blocks.length
    blocks.push([
      { data: { type: 'content_block_start', index, content_block: start }, mark },
      ...deltas.map(({ data, mark }) => ({ data: { type: 'content_block_delta', index, delta: data }, mark })),
      { data: { type: 'content_block_stop', index } },
    ])
  }
  if (turn.reasoning !== '') {
    const thinking = pieces(turn.reasoning, 4).map((piece) => ({ data: { type: 'thinking_delta', thinking: piece } }))
    const signature = { data: { type: 'signature_delta', signature: meta.signature } }
    block({ type: 'thinking', thinking: '', signature: '' }, undefined, [...thinking, signature])
  }
  if (turn.text.join('') !== '') {
    const deltas = turn.text.map((text) => ({ data: { type: 'text_delta', text }, mark: 'text' as const }))
    block({ type: 'text', text: '' }, undefined, deltas)
  }
  for (const { id, name, text } of turn.calls) {
    const json = pieces(text, 4).map((piece) => ({ data: { type: 'input_json_delta', partial_json: piece }, mark: 'call' as const }))
    const empty = { data: { type: 'input_json_delta', partial_json: '' } }
    block({ type: 'tool_use', id, name, input: {} }, 'call-start', [empty, ...json])
  }
  const usage = { ...inputOf(turn.usage), output_tokens: 1 }
  return [
    { data: { type: 'message_start', message: { ...header(meta), content: [], stop_reason: null, stop_sequence: null, usage } } },
    { data: { type: 'ping' } },
    ...blocks.flat(),
    { data: { type: 'message_delta', delta: { stop_reason: turn.finish, stop_sequence: null }, usage: { output_tokens: output } } },
    { data: { type: 'message_stop' } },
  ]
}

const blocksOf = (message: Json | undefined, type?: string): Json[] =>
  asArray(message?.['content'])
    .map(asObject)
    .filter((block) => type === undefined || block['type'] === type)

function results(messages: readonly Json[]): SeenToolResult[] {
  const at = messages.findLastIndex((message) => blocksOf(message, 'tool_result').length > 0)
  const names = new Map(blocksOf(messages[at - 1]).map(({ id, name }) => [id, name]))
  return blocksOf(messages[at], 'tool_result').map(({ tool_use_id: id, content, is_error: isError }) => ({
    ...seenResult(id, names.get(id), content),
    isError: isError === true,
  }))
}

const id = z.string().regex(/^[a-zA-Z0-9_-]+$/)
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/)
const text = z.string().min(1, 'text content blocks must be non-empty').regex(/\S/, 'text content blocks must contain non-whitespace text')
const textBlock = z.looseObject({ type: z.literal('text'), text })
const media = z.looseObject({ type: z.enum(['image', 'document']) })
const isNotEmpty = ({ is_error, content }: { is_error?: boolean | undefined; content?: unknown }): boolean =>
  is_error !== true || (typeof content === 'string' ? content !== '' : asArray(content).length > 0)
const toolResult = z
  .looseObject({
    type: z.literal('tool_result'),
    tool_use_id: id,
    is_error: z.boolean().optional(),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, media]))]).optional(),
  })
  .refine(isNotEmpty, 'content cannot be empty if `is_error` is true')
const toolUse = z.looseObject({ type: z.literal('tool_use'), id, name, input: z.record(z.string(), z.unknown()) })
const thinking = z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() })
const redacted = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() })
const serverUse = z.looseObject({ type: z.literal('server_tool_use'), id, name, input: z.record(z.string(), z.unknown()) })
const searched = z.looseObject({ type: z.literal('web_search_tool_result'), tool_use_id: id, content: z.unknown() })
const NON_EMPTY = 'all messages must have non-empty content'
const userBlocks = z.array(z.discriminatedUnion('type', [textBlock, media, toolResult])).min(1, NON_EMPTY)
const assistantBlocks = z
  .array(z.discriminatedUnion('type', [textBlock, thinking, redacted, toolUse, serverUse, searched]))
  .min(1, NON_EMPTY)
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.union([text, userBlocks], 'Field required') }),
  z.object({ role: z.literal('assistant'), content: z.union([text, assistantBlocks], 'Field required') }),
])
const systemBlocks = z
  .array(z.looseObject({ type: z.string(), text: text.optional() }))
  .refine((blocks) => blocks.every(({ type }) => type === 'text'), 'Input should be text blocks')
const tool = z.union([
  z.looseObject({ type: z.literal('custom').optional(), name, input_schema: z.looseObject({ type: z.literal('object') }) }),
  z.looseObject({ type: z.string().regex(/^(?!custom$)/), name }),
])
const CHOICES = "'auto', 'any', 'tool', 'none'"
const choice = z.looseObject({ type: z.string() }).refine(({ type }) => CHOICES.includes(`'${type}'`), `Input should be one of ${CHOICES}`)
const requestBody = z.object(
  {
    model: z.string().min(1),
    max_tokens: z.int().min(1, 'Input should be greater than or equal to 1'),
    messages: z.array(message).min(1, 'at least one message is required'),
    system: z.union([z.string(), systemBlocks]).optional(),
    tools: z.array(tool).optional(),
    tool_choice: choice.optional(),
  },
  'The request body is not valid JSON',
)

const PYDANTIC: Readonly<Record<string, string>> = { array: 'list', object: 'dictionary', record: 'dictionary', int: 'integer' }

function wording(body: unknown, issue: Issue): string {
  const { code, path, input, message } = issue
  if (path.length === 0) return message
  const where = placeIn(body, path)
  if (message !== '') return `${where}: ${message}`
  if (input === undefined) return `${where}: Field required`
  if (code === 'invalid_type') return `${where}: Input should be a valid ${PYDANTIC[issue.expected] ?? issue.expected}`
  if (code === 'invalid_format') return `${where}: String should match pattern '${issue.pattern?.slice(1, -1)}'`
  if (code === 'invalid_value') return `${where}: Input should be '${issue.values}'`
  if (!('options' in issue)) return `${where}: Input should be a valid list`
  const found = asObject(input)[String(path.at(-1))]
  if (issue.discriminator === 'role') return `${where}: Unexpected role "${found}". Allowed roles are "user" or "assistant".`
  return `${placeIn(body, path.slice(0, -1))}: Input tag '${found}' found does not match any of the expected tags: ${issue.options}`
}

/** A path with the type of each block in it. */
function placeIn(body: unknown, path: readonly PropertyKey[]): string {
  let value = body
  return path
    .flatMap((key, at) => {
      value = asObject(Array.isArray(value) ? { ...value } : value)[String(key)]
      const type = asObject(value)['type'] ?? (path[0] === 'tools' ? 'custom' : undefined)
      return typeof key === 'number' && at < path.length - 1 && type !== undefined ? [key, type] : [key]
    })
    .join('.')
}

function* problems(body: unknown, rules: Rules): Generator<string> {
  yield* schemaProblems(requestBody, body, (issue) => wording(body, issue))
  const { thinking, max_tokens: maxTokens, tool_choice: toolChoice, ...rest } = body as Json
  const messages = asArray(rest['messages']).map(asObject)
  const names = asArray(rest['tools']).map((tool) => asObject(tool)['name'])
  const { type: mode, budget_tokens: budget } = asObject(thinking)
  const { type: choice, name: chosen } = asObject(toolChoice)
  if (new Set(names).size < names.length) yield 'tools: Tool names must be unique.'
  if (mode === 'enabled' && Number(budget) >= Number(maxTokens)) yield '`max_tokens` must be greater than `thinking.budget_tokens`.'
  if (choice !== undefined && names.length === 0) yield 'tool_choice may only be specified while providing tools.'
  if (choice === 'tool' && !names.includes(chosen)) yield `tool_choice: Tool '${chosen}' not found in provided tools`
  if (mode === 'enabled' && (choice === 'any' || choice === 'tool')) yield 'Thinking may not be enabled when tool_choice forces tool use.'
  if (messages[0]?.['role'] !== 'user') yield 'messages: first message must use the "user" role'
  yield* pairingProblems(messages)
  yield* serverToolProblems(messages)
  if (rules.toolsRequired && names.length === 0 && messages.some(hasToolBlock))
    yield 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
  yield* thinkingProblems(messages, mode, rules)
  const at = messages.findIndex((message) => /thinking$/.test(String(blocksOf(message).at(-1)?.['type'])))
  if (at >= 0) yield `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`
}

const hasToolBlock = (message: Json): boolean => [...blocksOf(message, 'tool_use'), ...blocksOf(message, 'tool_result')].length > 0

/** Every call has exactly one result, at the beginning of the message after the call. */
function* pairingProblems(messages: readonly Json[]): Generator<string> {
  const seen = new Set<unknown>()
  let open: readonly unknown[] = []
  for (const [at, message] of [...messages, {}].entries()) {
    const types = blocksOf(message).map(({ type }) => type)
    const results = blocksOf(message, 'tool_result').map((block) => block['tool_use_id'])
    if (types.slice(0, results.length).some((type) => type !== 'tool_result'))
      yield `messages.${at}: \`tool_result\` blocks must come first in the content of the message.`
    const stray = results.find((id) => !open.includes(id))
    if (stray !== undefined)
      yield `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    const doubled = results.find((id, index) => results.indexOf(id) !== index)
    if (doubled !== undefined)
      yield `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${doubled}`
    const missing = open.filter((id) => !results.includes(id))
    if (missing.length > 0)
      yield `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
    open = blocksOf(message, 'tool_use').map((block) => block['id'])
    for (const id of open) {
      if (seen.has(id)) yield `messages.${at}: \`tool_use\` ids must be unique (${id})`
      seen.add(id)
    }
  }
}

/** Every use of a tool that the server runs has its result in the same message, or in the next one if that continues the reply. */
function* serverToolProblems(messages: readonly Json[]): Generator<string> {
  let open = new Set<unknown>()
  for (const [at, message] of messages.entries()) {
    if (message['role'] !== 'assistant') {
      for (const id of open)
        yield `messages.${at - 1}: \`web_search\` tool use with id \`${id}\` was found without a corresponding \`web_search_tool_result\` block`
      open = new Set()
    }
    for (const { type, id, tool_use_id: answered } of blocksOf(message)) {
      if (type === 'server_tool_use') open.add(id)
      if (type === 'web_search_tool_result' && !open.delete(answered))
        yield `messages.${at}: unexpected \`tool_use_id\` found in \`web_search_tool_result\` blocks: ${answered}.`
    }
  }
}
