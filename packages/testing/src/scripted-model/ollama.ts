/**
 * Ollama's own API: the replies, and the rules by which a request is refused, with the original messages where they are known.
 * Stricter than Ollama in two ways: it refuses unknown fields, and tool results that answer no call.
 */
import { z } from 'zod'
import { asArray, asObject, type Json } from './json.ts'
import { capabilities, contextLength, fullName, type OllamaModel, type OllamaState } from './ollama-state.ts'
import { openai, toolMessages } from './openai.ts'
import type { Issue, ResolvedTurn, ResponseMeta, StreamEvent, Wire } from './protocol.ts'
import { firstProblem, pieces, schemaProblems } from './protocol.ts'

export const ollama: Wire = {
  route: '/api/chat',
  idPrefix: 'call_',
  headers: { 'content-type': 'application/x-ndjson' },
  isStreamed: ({ stream }) => stream !== false,
  events,
  frame: (data) => (typeof data === 'string' ? data : `${JSON.stringify(data)}\n`),
  body: (turn, meta) => {
    const calls = toolCalls(turn)
    const thinking = turn.reasoning !== '' && { thinking: turn.reasoning }
    const message = { role: 'assistant', content: turn.text.join(''), ...thinking, ...(calls.length > 0 && { tool_calls: calls }) }
    return { ...header(meta), message, ...ending(turn) }
  },
  error: (_, message) => ({ error: message }),
  models: openai.models,
  problem: ({ body }, { ollama: { find } }) => {
    const { model } = asObject(body)
    const isKnown = typeof model !== 'string' || model === '' || find(model)
    return isKnown ? firstProblem(problems(body, find)) : { status: 404, message: `model '${model}' not found` }
  },
  results: toolMessages,
}

/** The line of a call comes in pieces, so that the stream can break within it. */
function events(turn: ResolvedTurn, meta: ResponseMeta): StreamEvent[] {
  const line = (message: Json) => ({ ...header(meta), message: { role: 'assistant', ...message }, done: false })
  return [
    ...pieces(turn.reasoning, 4).map((thinking) => ({ data: line({ content: '', thinking }) })),
    ...turn.text.map((content) => ({ data: line({ content }), mark: 'text' as const })),
    ...toolCalls(turn).flatMap((call) => {
      const text = ollama.frame(line({ content: '', tool_calls: [call] }))
      return pieces(text, 3).map((data, at) => ({ data, mark: at === 0 ? ('call-start' as const) : ('call' as const) }))
    }),
    { data: { ...header(meta), message: { role: 'assistant', content: '' }, ...ending(turn) } },
  ]
}

const toolCalls = ({ calls }: ResolvedTurn): Json[] =>
  calls.map(({ id, name, input }, index) => ({ ...(id !== '' && { id }), function: { index, name: name ?? '', arguments: input } }))

const header = ({ model, created }: ResponseMeta): Json => ({ model, created_at: new Date(created * 1000).toISOString() })

/** Like Ollama, leaves out counts of 0. */
const ending = ({ finish, usage: { input, output } }: ResolvedTurn): Json => ({
  done: true,
  done_reason: finish,
  total_duration: 1_000_000,
  load_duration: 1000,
  ...(input > 0 && { prompt_eval_count: input }),
  prompt_eval_duration: 1000,
  ...(output > 0 && { eval_count: output }),
  eval_duration: 1000,
})

/** The responses to `GET /api/tags`, `/api/ps` and `/api/version`; `undefined` for another route. */
export function ollamaList(route: string, state: OllamaState): object | undefined {
  if (route === '/api/version') return { version: state.version }
  if (route === '/api/tags') return { models: state.models.map(listed) }
  if (route !== '/api/ps') return undefined
  const loaded = state.loaded().map(([model, numCtx]) => ({ ...listed(model), context_length: numCtx }))
  return { models: loaded.map((model) => ({ ...model, expires_at: new Date(0).toISOString(), size_vram: model.size })) }
}

/** The response to `POST /api/show`. */
export function ollamaShow(model: OllamaModel): object {
  const parameters = Object.entries(model.parameters ?? {}).map(([key, value]) => `${key.padEnd(30)} ${value}`)
  return {
    modelfile: `FROM ${model.name}`,
    parameters: parameters.join('\n'),
    template: '{{ .Prompt }}',
    details: DETAILS,
    model_info: { 'general.architecture': 'scripted', 'scripted.context_length': contextLength(model) },
    capabilities: capabilities(model),
    ...(model.remoteHost !== undefined && { remote_host: model.remoteHost, remote_model: model.name }),
  }
}

const DETAILS = { parent_model: '', format: 'gguf', family: 'scripted', parameter_size: '8B', quantization_level: 'Q4_K_M' }

function listed({ name: given, size = 1_000_000_000 }: OllamaModel) {
  const name = fullName(given)
  return { name, model: name, modified_at: new Date(0).toISOString(), size, digest: 'scripted', details: DETAILS }
}

const NUMBERS = 'num_ctx num_predict num_keep temperature top_p top_k min_p seed repeat_penalty presence_penalty frequency_penalty'.split(
  ' ',
)
/** The messages of this schema are the names of Go types. */
const tool = z.looseObject({
  type: z.literal('function', 'function'),
  function: z.looseObject({
    name: z.string('string').min(1, 'string'),
    parameters: z.looseObject({ type: z.literal('object', 'object') }, 'object').optional(),
  }),
})
const toolCall = z.looseObject({
  function: z.looseObject({
    name: z.string('string'),
    arguments: z.record(z.string(), z.unknown(), 'api.ToolCallFunctionArguments'),
  }),
})
const message = z.strictObject(
  {
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.string('string').optional(),
    thinking: z.string('string').optional(),
    images: z.array(z.base64('[]api.ImageData').min(1, '[]api.ImageData'), '[]api.ImageData').optional(),
    tool_calls: z.array(toolCall, '[]api.ToolCall').optional(),
    tool_name: z.string('string').optional(),
    tool_call_id: z.string('string').optional(),
  },
  'api.Message',
)
const numbers = Object.fromEntries(NUMBERS.map((key) => [key, z.number('number').optional()]))
const requestBody = z.strictObject(
  {
    model: z.string('string').optional(),
    messages: z.array(message, '[]api.Message').optional(),
    stream: z.boolean('bool').optional(),
    think: z.union([z.boolean(), z.string()], 'bool or string').optional(),
    tools: z.array(tool, 'api.Tools').optional(),
    options: z.strictObject({ ...numbers, stop: z.unknown().optional() }, 'map[string]interface {}').optional(),
    truncate: z.boolean('bool').optional(),
    shift: z.boolean('bool').optional(),
    keep_alive: z.union([z.string(), z.number()], 'api.Duration').optional(),
    format: z.union([z.string(), z.record(z.string(), z.unknown())], 'json.RawMessage').optional(),
  },
  'invalid character in the body: it is not a JSON object',
)

function wording(issue: Issue): string {
  const { code, path, input, message } = issue
  const where = ['ChatRequest', ...path.filter((key) => typeof key === 'string')].join('.')
  if (code === 'unrecognized_keys') return `${where} has no field "${issue.keys[0]}"`
  if (path.length === 0) return message
  if (path[0] === 'options' && path.length > 1) return `option "${String(path[1])}" must be of type ${message}`
  if (message === '') return `invalid role: ${input}, role must be one of [system user assistant tool]`
  const kind = Array.isArray(input) ? 'array' : input === null || input === undefined ? 'null' : typeof input
  return `json: cannot unmarshal ${kind} into Go struct field ${where} of type ${message}`
}

function* problems(body: unknown, find: OllamaState['find']): Generator<string> {
  yield* schemaProblems(requestBody, body, wording)
  const { model, think = false, tools, messages } = body as Json
  if (!model) return yield 'model is required'
  const found = find(String(model))
  const can = found ? capabilities(found) : []
  if (asArray(tools).length > 0 && !can.includes('tools')) yield `registry.ollama.ai/library/${model} does not support tools`
  if (think !== false && !can.includes('thinking')) yield `"${model}" does not support thinking`
  yield* pairingProblems(asArray(messages).map(asObject))
}

/** A message is followed by as many results as it has calls, and each result names one of them. */
function* pairingProblems(messages: readonly Json[]): Generator<string> {
  let open: Json[] = []
  for (const { role, tool_call_id: id, tool_name: name, tool_calls: calls } of [...messages, {} as Json]) {
    if (role === 'tool') {
      const isFor = (call: Json): boolean =>
        (id === undefined || id === call['id']) && (name === undefined || name === asObject(call['function'])['name'])
      const at = open.findIndex(isFor)
      if (at === -1) yield `a tool result (${name}) answers no call before it`
      open = open.toSpliced(at, 1)
      continue
    }
    if (open.length > 0) yield `${open.length} tool calls have no result`
    open = asArray(calls).map(asObject)
  }
}
