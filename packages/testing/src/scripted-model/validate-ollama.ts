/**
 * The rules by which Ollama's own API refuses a request, with their wording where it is known. Stricter in two ways: Ollama
 * passes over fields it does not know, and takes a tool result that answers no call.
 */
import { asArray, asObject, isObject, type Json } from './json.ts'
import { capabilities, type OllamaModel } from './ollama.ts'
import { firstProblem, type Problem } from './problem.ts'

const ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool']

type Check = (value: unknown) => boolean
const isString: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const FIELDS: Readonly<Record<string, readonly [Check, expected: string]>> = {
  model: [isString, 'string'],
  messages: [Array.isArray, '[]api.Message'],
  stream: [isBoolean, 'bool'],
  think: [(value) => isBoolean(value) || isString(value), 'bool or string'],
  tools: [Array.isArray, 'api.Tools'],
  options: [isObject, 'map[string]interface {}'],
  truncate: [isBoolean, 'bool'],
  shift: [isBoolean, 'bool'],
  keep_alive: [(value) => isString(value) || typeof value === 'number', 'api.Duration'],
  format: [(value) => isString(value) || isObject(value), 'json.RawMessage'],
}
const MESSAGE_FIELDS: typeof FIELDS = {
  role: [isString, 'string'],
  content: [isString, 'string'],
  thinking: [isString, 'string'],
  images: [(value) => Array.isArray(value) && value.every(isBase64), '[]api.ImageData'],
  tool_calls: [Array.isArray, '[]api.ToolCall'],
  tool_name: [isString, 'string'],
  tool_call_id: [isString, 'string'],
}
const NUMBERS = [
  'num_ctx',
  'num_predict',
  'num_keep',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'seed',
  'repeat_penalty',
  'presence_penalty',
  'frequency_penalty',
]

/** What a body for `/api/chat` does wrong, if anything. `find` knows the models. */
export function validateOllama(body: unknown, find: (name: string) => OllamaModel | undefined): Problem | undefined {
  if (isObject(body) && isString(body['model']) && body['model'] !== '' && !find(body['model'] as string))
    return { status: 404, message: `model '${body['model']}' not found` }
  return firstProblem(problems(body, find))
}

function* problems(body: unknown, find: (name: string) => OllamaModel | undefined): Generator<string> {
  if (!isObject(body)) return yield 'invalid character in the body: it is not a JSON object'
  yield* fieldProblems(body, FIELDS, 'ChatRequest')
  if (body['model'] === undefined || body['model'] === '') return yield 'model is required'
  for (const [key, value] of Object.entries(asObject(body['options']))) {
    if (NUMBERS.includes(key) ? typeof value !== 'number' : key !== 'stop') yield `option "${key}" must be of type number, and be known`
  }
  const model = find(body['model'] as string)
  const can = model ? capabilities(model) : []
  if (asArray(body['tools']).length > 0 && !can.includes('tools'))
    yield `registry.ollama.ai/library/${body['model']} does not support tools`
  if (body['think'] !== undefined && body['think'] !== false && !can.includes('thinking'))
    yield `"${body['model']}" does not support thinking`
  yield* toolProblems(asArray(body['tools']))
  for (const message of asArray(body['messages'])) yield* messageProblems(message)
  yield* pairingProblems(asArray(body['messages']).map(asObject))
}

function* fieldProblems(value: Json, fields: typeof FIELDS, struct: string): Generator<string> {
  for (const [key, held] of Object.entries(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (!field) yield `${struct} has no field "${key}"`
    else if (!field[0](held)) yield `json: cannot unmarshal ${kindOf(held)} into Go struct field ${struct}.${key} of type ${field[1]}`
  }
}

function* toolProblems(tools: readonly unknown[]): Generator<string> {
  for (const tool of tools.map(asObject)) {
    const { name, parameters } = asObject(tool['function'])
    if (tool['type'] !== 'function' || typeof name !== 'string' || name === '') yield 'a tool must be of type function and have a name'
    if (parameters !== undefined && asObject(parameters)['type'] !== 'object')
      yield `the parameters of ${name} must be a schema of an object`
  }
}

function* messageProblems(message: unknown): Generator<string> {
  if (!isObject(message))
    return yield `json: cannot unmarshal ${kindOf(message)} into Go struct field ChatRequest.messages of type api.Message`
  yield* fieldProblems(message, MESSAGE_FIELDS, 'ChatRequest.messages')
  if (!ROLES.includes(message['role'])) yield `invalid role: ${message['role']}, role must be one of [system user assistant tool]`
  for (const call of asArray(message['tool_calls'])) {
    const { name, arguments: input } = asObject(asObject(call)['function'])
    if (typeof name !== 'string') yield 'a tool call has no name'
    if (!isObject(input))
      yield `json: cannot unmarshal ${kindOf(input)} into Go struct field ToolCallFunction.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments`
  }
}

/** As many results follow a message as it has calls, and each names one of them. */
function* pairingProblems(messages: readonly Json[]): Generator<string> {
  let open: Json[] = []
  for (const message of messages) {
    if (message['role'] === 'tool') {
      const at = open.findIndex(
        (call) =>
          (message['tool_call_id'] === undefined || message['tool_call_id'] === call['id']) &&
          (message['tool_name'] === undefined || message['tool_name'] === asObject(call['function'])['name']),
      )
      if (at === -1) yield `a tool result (${message['tool_name']}) answers no call before it`
      else open.splice(at, 1)
      continue
    }
    if (open.length > 0) yield `${open.length} tool calls have no result`
    open = asArray(message['tool_calls']).map(asObject)
  }
  if (open.length > 0) yield `${open.length} tool calls have no result`
}

function isBase64(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value)
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null || value === undefined ? 'null' : typeof value)
