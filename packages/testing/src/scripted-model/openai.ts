/** OpenAI's chat completions: the replies, and the rules by which a request is refused, with the original messages where they are known. */
import { z } from 'zod'
import { asArray, asObject, isObject, type Json, parseJson } from './json.ts'
import type { Issue, ResolvedTurn, ResponseMeta, StreamEvent, Wire } from './protocol.ts'
import { EVENT_STREAM, firstProblem, pieces, schemaProblems } from './protocol.ts'
import type { SeenToolResult } from './request.ts'

export const openai: Wire = {
  route: '/chat/completions',
  idPrefix: 'call_',
  headers: EVENT_STREAM,
  isStreamed: ({ stream }) => stream === true,
  events,
  frame: (data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  body: (turn, meta) => {
    const calls = turn.calls.map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } }))
    const message = {
      role: 'assistant',
      content: turn.text.length > 0 ? turn.text.join('') : null,
      ...(turn.reasoning !== '' && { reasoning_content: turn.reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: turn.finish }]
    return { ...header(meta, 'chat.completion'), choices, usage: usage(turn) }
  },
  error: (status, message) => {
    const type = status === 429 ? 'requests' : status >= 500 ? 'server_error' : 'invalid_request_error'
    return { error: { message, type, param: null, code: status === 429 ? 'rate_limit_exceeded' : null } }
  },
  models: (names) => ({ object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'scripted' })) }),
  problem: ({ body }, { toolsRequired }) => firstProblem(problems(body, toolsRequired)),
  results: toolMessages,
}

const header = ({ id, model, created }: ResponseMeta, object: string): Json => ({ id: `chatcmpl-${id}`, object, created, model })

const usage = ({ usage: { input, output, cached } }: ResolvedTurn): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
})

function events(turn: ResolvedTurn, meta: ResponseMeta, body: Json): StreamEvent[] {
  const hasUsage = asObject(body['stream_options'])['include_usage'] === true
  const chunk = (delta: Json, mark?: StreamEvent['mark'], finish: string | null = null): StreamEvent => {
    const choices = [{ index: 0, delta, finish_reason: finish }]
    return { data: { ...header(meta, 'chat.completion.chunk'), choices, ...(hasUsage && { usage: null }) }, mark }
  }
  const callChunks = turn.calls.flatMap(({ id, name, text }, index) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }, 'call-start'),
    ...pieces(text, 4).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] }, 'call')),
  ])
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(turn.reasoning, 4).map((piece) => chunk({ reasoning_content: piece })),
    ...turn.text.map((piece) => chunk({ content: piece }, 'text')),
    ...callChunks,
    chunk({}, undefined, turn.finish),
    ...(hasUsage ? [{ data: { ...header(meta, 'chat.completion.chunk'), choices: [], usage: usage(turn) } }] : []),
    { data: '[DONE]' },
  ]
}

/** The newest results in messages with the role `tool`. */
export function toolMessages(messages: readonly Json[]): SeenToolResult[] {
  const end = messages.findLastIndex((message) => message['role'] === 'tool') + 1
  const start = messages.slice(0, end).findLastIndex((message) => message['role'] !== 'tool')
  const calls = asArray(messages[start]?.['tool_calls']).map(asObject)
  return messages.slice(start + 1, end).map(({ tool_call_id: id = '', tool_name, content }) => {
    const called = calls.find((call) => call['id'] === id)
    return seenResult(id, tool_name ?? asObject(called?.['function'])['name'], content)
  })
}

export function seenResult(id: unknown, name: unknown, content: unknown): SeenToolResult {
  const parts = typeof content === 'string' ? [content] : asArray(content).map((part) => asObject(part)['text'])
  const text = parts.filter((part) => typeof part === 'string').join('')
  return { id: String(id), text, ...(typeof name === 'string' && { name }) }
}

const NAME = "expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'"
const name = z.string(NAME).regex(/^[a-zA-Z0-9_-]{1,64}$/, NAME)
const parts = z.array(z.looseObject({ type: z.string() })).min(1)
const content = z.union([z.string(), parts])
const isText = (given: z.infer<typeof parts>): boolean => given.every(({ type }) => type === 'text')
const resultContent = z.union([z.string(), parts.refine(isText, "messages with role 'tool' may hold text parts only")])
const isObjectText = (text: string): boolean => isObject(parseJson(text))
const call = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name, arguments: z.string().refine(isObjectText, 'expected a string that holds a JSON object') }),
})
const noCalls = { tool_calls: z.undefined("'tool_calls' is only allowed for role 'assistant'").optional() }
const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content, ...noCalls }),
  z.object({ role: z.literal('tool'), content: resultContent, tool_call_id: z.string(), ...noCalls }),
  z
    .object({ role: z.literal('assistant'), content: content.nullish(), tool_calls: z.array(call).min(1).optional() })
    .refine((one) => one.tool_calls || one.content, 'an assistant message must have content or tool_calls'),
])
const parameters = z.looseObject({ type: z.literal('object', 'the schema must be a JSON Schema of \'type: "object"\'') })
const tool = z.object({ type: z.literal('function'), function: z.object({ name, parameters: parameters.optional() }) })
const requestBody = z.object(
  {
    model: z.string('you must provide a model parameter').min(1, 'you must provide a model parameter'),
    messages: z.array(message).min(1),
    tools: z.array(tool).min(1).optional(),
    tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.object({ function: z.object({ name }) })]).nullish(),
  },
  'We could not parse the JSON body of your request.',
)

function wording(issue: Issue): string {
  const { code, path, input, message } = issue
  const where = z.core.toDotPath(path)
  if (message !== '') return path.length > 1 ? `Invalid '${where}': ${message}.` : message
  if (input === undefined) return `Missing required parameter: '${where}'.`
  if (code === 'invalid_type') return `Invalid type for '${where}': expected ${issue.expected === 'string' ? 'a' : 'an'} ${issue.expected}.`
  if (code === 'too_small') return `Invalid '${where}': empty ${issue.origin}. Expected ${issue.origin} with minimum length 1.`
  const supported = code === 'invalid_value' ? issue.values : 'options' in issue && issue.options
  return `Invalid value for '${where}'. Supported values are: ${supported || 'a string or an array of parts'}.`
}

function* problems(body: unknown, toolsRequired: boolean): Generator<string> {
  yield* schemaProblems(requestBody, body, wording)
  const { tools, tool_choice: choice, stream, stream_options: streamOptions } = body as Json
  const messages = asArray((body as Json)['messages']).map(asObject)
  if (choice && !tools) yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
  const { name: wanted } = asObject(asObject(choice)['function'])
  if (wanted !== undefined && !asArray(tools).some((one) => asObject(asObject(one)['function'])['name'] === wanted))
    yield `Invalid value for 'tool_choice': no tool named '${wanted}'.`
  yield* pairingProblems(messages)
  if (toolsRequired && tools === undefined && messages.some((one) => 'tool_calls' in one || one['role'] === 'tool'))
    yield "Messages contain tool calls, but 'tools' is missing from the request."
  if (streamOptions !== undefined && streamOptions !== null && stream !== true)
    yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
}

/** Every call has exactly one result, directly after the message with the call. */
function* pairingProblems(messages: readonly Json[]): Generator<string> {
  let open = new Set<unknown>()
  let answered = new Set<unknown>()
  for (const [at, { role, tool_call_id: id, tool_calls: calls }] of [...messages, {} as Json].entries()) {
    if (role === 'tool') {
      if (answered.has(id)) yield `Invalid 'messages[${at}]': 'tool_call_id' of '${id}' already has a response message.`
      if (!open.delete(id))
        yield `Invalid 'messages[${at}]': messages with role 'tool' must be a response to a preceeding message with 'tool_calls' ('${id}' is none of its ids).`
      answered.add(id)
      continue
    }
    if (open.size > 0)
      yield `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`
    const ids = asArray(calls).map((one) => asObject(one)['id'])
    open = new Set(ids)
    answered = new Set()
    if (open.size < ids.length) yield `Duplicate value for 'tool_call_id' in 'messages[${at}].tool_calls'.`
  }
}
