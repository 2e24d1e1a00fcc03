/** OpenAI's responses: the replies, and the rules by which a request is refused, with the original messages where they are known. */
import { z } from 'zod'
import { asArray, asObject, isObject, type Json, parseJson } from './json.ts'
import { openai, seenResult } from './openai.ts'
import type { Issue, ResolvedTurn, ResponseMeta, Rules, StreamEvent, Wire } from './protocol.ts'
import { EVENT_STREAM, firstProblem, pieces, schemaProblems } from './protocol.ts'
import type { SeenToolResult } from './request.ts'

export const responses: Wire = {
  route: '/responses',
  idPrefix: 'call_',
  headers: EVENT_STREAM,
  isStreamed: ({ stream }) => stream === true,
  events,
  frame: (data) => `event: ${asObject(data)['type']}\ndata: ${JSON.stringify(data)}\n\n`,
  body,
  error: openai.error,
  models: openai.models,
  problem: ({ body }, rules) => firstProblem(problems(body, rules)),
  results,
}

const INCOMPLETE: readonly string[] = ['max_output_tokens', 'content_filter']

function itemsOf({ text, reasoning, calls, finish }: ResolvedTurn, { id }: ResponseMeta): Json[] {
  const status = INCOMPLETE.includes(finish) ? 'incomplete' : 'completed'
  const content = [{ type: 'output_text', text: text.join(''), annotations: [], logprobs: [] }]
  return [
    ...(reasoning === '' ? [] : [{ id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] }]),
    ...(text.join('') === '' ? [] : [{ id: `msg_${id}`, type: 'message', status, role: 'assistant', content }]),
    ...calls.map(({ id: callId, name, text }) => ({
      id: `fc_${callId.replace(/^call_/, '')}`,
      type: 'function_call',
      status,
      call_id: callId,
      name,
      arguments: text,
    })),
  ]
}

function body(turn: ResolvedTurn, meta: ResponseMeta): Json {
  const { finish, usage } = turn
  const isIncomplete = INCOMPLETE.includes(finish)
  return {
    id: `resp_${meta.id}`,
    object: 'response',
    created_at: meta.created,
    model: meta.model,
    status: isIncomplete ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isIncomplete ? { reason: finish } : null,
    output: itemsOf(turn, meta),
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  }
}

function events(turn: ResolvedTurn, meta: ResponseMeta): StreamEvent[] {
  const whole = body(turn, meta)
  const begun = { ...whole, status: 'in_progress', incomplete_details: null, output: [], usage: null }
  const ending = whole['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const list: StreamEvent[] = [
    { data: { type: 'response.created', response: begun } },
    { data: { type: 'response.in_progress', response: begun } },
    ...itemsOf(turn, meta).flatMap((item, at) => itemEvents(item, at, turn)),
    { data: { type: ending, response: whole } },
  ]
  return list.map(({ data, ...more }, at) => ({ ...more, data: { ...asObject(data), sequence_number: at } }))
}

function itemEvents(item: Json, at: number, { text }: ResolvedTurn): StreamEvent[] {
  const place = { item_id: item['id'], output_index: at }
  const added = (empty: Json): Json => ({ type: 'response.output_item.added', output_index: at, item: { ...item, ...empty } })
  const done = { data: { type: 'response.output_item.done', output_index: at, item } }
  if (item['type'] === 'reasoning') {
    const part = { ...place, summary_index: 0 }
    const [summary] = asArray(item['summary']).map(asObject)
    return [
      { data: added({ summary: [] }) },
      { data: { type: 'response.reasoning_summary_part.added', ...part, part: { type: 'summary_text', text: '' } } },
      ...pieces(String(summary?.['text']), 4).map((delta) => ({ data: { type: 'response.reasoning_summary_text.delta', ...part, delta } })),
      { data: { type: 'response.reasoning_summary_part.done', ...part, part: summary } },
      done,
    ]
  }
  if (item['type'] === 'message') {
    const part = { ...place, content_index: 0 }
    const [content] = asArray(item['content'])
    return [
      { data: added({ status: 'in_progress', content: [] }) },
      { data: { type: 'response.content_part.added', ...part, part: { ...asObject(content), text: '' } } },
      ...text.map((delta) => ({ data: { type: 'response.output_text.delta', ...part, delta, logprobs: [] }, mark: 'text' as const })),
      { data: { type: 'response.output_text.done', ...part, text: text.join(''), logprobs: [] } },
      { data: { type: 'response.content_part.done', ...part, part: content } },
      done,
    ]
  }
  const args = String(item['arguments'])
  return [
    { data: added({ status: 'in_progress', arguments: '' }), mark: 'call-start' },
    ...pieces(args, 4).map((delta) => ({
      data: { type: 'response.function_call_arguments.delta', ...place, delta },
      mark: 'call' as const,
    })),
    { data: { type: 'response.function_call_arguments.done', ...place, arguments: args } },
    done,
  ]
}

/** The results after the last calls. */
function results(input: readonly Json[]): SeenToolResult[] {
  const isOutput = ({ type }: Json): boolean => type === 'function_call_output'
  const end = input.findLastIndex(isOutput) + 1
  const start = input.slice(0, end).findLastIndex((item) => !isOutput(item)) + 1
  const names = new Map(input.filter(({ type }) => type === 'function_call').map((item) => [item['call_id'], item['name']]))
  return input.slice(start, end).map(({ call_id: id, output }) => seenResult(id, names.get(id), output))
}

const NAME = "expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"
const name = z.string(NAME).regex(/^[a-zA-Z0-9_-]{1,64}$/, NAME)
const inputParts = z.array(z.looseObject({ type: z.enum(['input_text', 'input_image', 'input_file']) })).min(1)
const outputParts = z.array(z.looseObject({ type: z.enum(['output_text', 'refusal']) })).min(1)
const isObjectText = (text: string): boolean => isObject(parseJson(text))
const said = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['user', 'system', 'developer']), content: z.union([z.string(), inputParts]) }),
  z.looseObject({ role: z.literal('assistant'), content: z.union([z.string().min(1), outputParts]) }),
])
const typed = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message'), role: z.string() }),
  z.looseObject({ type: z.literal('reasoning'), id: z.string(), summary: z.array(z.unknown()) }),
  z.looseObject({
    type: z.literal('function_call'),
    call_id: z.string().min(1).max(64),
    name,
    arguments: z.string().refine(isObjectText, 'expected a string that holds a JSON object'),
  }),
  z.looseObject({ type: z.literal('web_search_call'), id: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: z.string().min(1).max(64), output: z.union([z.string(), inputParts]) }),
])
const parameters = z.looseObject({ type: z.literal('object', 'the schema must be a JSON Schema of \'type: "object"\'') })
const tool = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function'), name, parameters, strict: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('web_search') }),
])
const requestBody = z.object(
  {
    model: z.string('you must provide a model parameter').min(1, 'you must provide a model parameter'),
    input: z.union([z.string(), z.array(z.looseObject({})).min(1)]),
    tools: z.array(tool).optional(),
    tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.object({ type: z.literal('function'), name })]).optional(),
  },
  'We could not parse the JSON body of your request.',
)

function wording(issue: Issue, before: string): string {
  const { code, path, input, message } = issue
  const where = `${before}${z.core.toDotPath(path)}`
  if (message !== '') return path.length > 0 && message !== NAME ? message : `Invalid '${where}': ${message}.`
  if (input === undefined) return `Missing required parameter: '${where}'.`
  if (code === 'invalid_type') return `Invalid type for '${where}': expected ${issue.expected}.`
  if (code === 'too_small') return `Invalid '${where}': empty ${issue.origin}. Expected ${issue.origin} with minimum length 1.`
  if (code === 'too_big') return `Invalid '${where}': ${issue.origin} too long. Expected a maximum length of ${issue.maximum}.`
  const supported = code === 'invalid_value' ? issue.values : 'options' in issue && issue.options
  return `Invalid value for '${where}'. Supported values are: ${supported || 'a string or a list'}.`
}

function* problems(body: unknown, rules: Rules): Generator<string> {
  yield* schemaProblems(requestBody, body, (issue) => wording(issue, ''))
  const { input, tools, tool_choice: choice } = body as Json
  const items = asArray(input).map(asObject)
  for (const [at, item] of items.entries()) {
    const schema = item['type'] === undefined || item['type'] === 'message' ? said : typed
    yield* schemaProblems(schema, item, (issue) => wording(issue, `input[${at}].`))
  }
  const names = asArray(tools).map((one) => asObject(one)['name'])
  const wanted = asObject(choice)['name']
  if (wanted !== undefined && !names.includes(wanted)) yield `Tool choice '${wanted}' not found in 'tools' parameter.`
  yield* pairingProblems(items)
  yield* reasoningProblems(items, rules)
  if (rules.toolsRequired && names.length === 0 && items.some(({ type }) => type === 'function_call'))
    yield "The input has function calls, but 'tools' is missing from the request."
}

/** Every call has exactly one output after it. */
function* pairingProblems(items: readonly Json[]): Generator<string> {
  const open = new Set<unknown>()
  const ids = new Set<unknown>()
  for (const { type, id, call_id: callId, role } of items) {
    if (id !== undefined && ids.has(id)) yield `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`
    ids.add(id)
    if (type === 'function_call' && open.has(callId)) yield `Duplicate 'call_id' ${callId} in 'input'.`
    if (type === 'function_call') open.add(callId)
    if (type === 'function_call_output' && !open.delete(callId)) yield `No tool call found for function call output with call_id ${callId}.`
    const [unanswered] = open
    if (role === 'user' && unanswered !== undefined) yield `No tool output found for function call ${unanswered}.`
  }
  const [unanswered] = open
  if (unanswered !== undefined) yield `No tool output found for function call ${unanswered}.`
}

/** Reasoning is only accepted together with what followed it. */
function* reasoningProblems(items: readonly Json[], { isSigned }: Rules): Generator<string> {
  for (const [at, { type, id, call_id: callId }] of items.entries()) {
    const next = items[at + 1]
    const isFollowed =
      /^(?:function|web_search)_call$/.test(String(next?.['type'])) || (next?.['type'] === 'message' && next['role'] === 'assistant')
    if (type === 'reasoning' && !isFollowed) yield `Item '${id}' of type 'reasoning' was provided without its required following item.`
    if (type !== 'function_call' || !isSigned(String(callId))) continue
    const before = items.slice(0, at).findLast((item) => !/_call$|^message$/.test(String(item['type'])))
    if (before?.['type'] !== 'reasoning') yield `Item '${id}' of type 'function_call' was provided without its required 'reasoning' item.`
  }
}
