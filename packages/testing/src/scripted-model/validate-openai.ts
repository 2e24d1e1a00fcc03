/** The rules by which OpenAI's chat completions refuse a request, with their wording where it is known. */
import { asArray, asObject, isObject, type Json, parseJson } from './json.ts'
import { firstProblem, type Problem } from './problem.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool']
const CHOICES: readonly unknown[] = ['none', 'auto', 'required']

/** What a chat completions body does wrong, if anything. `toolsRequired`: calls in the history need `tools` in the request. */
export function validateOpenAI(body: unknown, { toolsRequired = true }: { readonly toolsRequired?: boolean } = {}): Problem | undefined {
  return firstProblem(problems(body, toolsRequired))
}

function* problems(body: unknown, toolsRequired: boolean): Generator<string> {
  if (!isObject(body)) return yield 'We could not parse the JSON body of your request.'
  if (typeof body['model'] !== 'string' || body['model'] === '') yield 'you must provide a model parameter'
  const messages = body['messages']
  if (!Array.isArray(messages)) return yield "Missing required parameter: 'messages'."
  if (messages.length === 0)
    yield "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
  yield* toolProblems(body)
  for (const [at, message] of messages.entries()) {
    if (!isObject(message)) return yield `Invalid type for 'messages[${at}]': expected an object.`
    yield* messageProblems(message, `messages[${at}]`)
  }
  yield* pairingProblems(messages.map(asObject))
  if (toolsRequired && body['tools'] === undefined && messages.some((message) => 'tool_calls' in message || message['role'] === 'tool'))
    yield "Messages hold tool calls, but 'tools' is missing from the request."
  if (body['stream_options'] !== undefined && body['stream_options'] !== null && body['stream'] !== true)
    yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
}

function* toolProblems(body: Json): Generator<string> {
  const { tools, tool_choice: choice } = body
  if (tools !== undefined && (!Array.isArray(tools) || tools.length === 0))
    yield "Invalid 'tools': expected an array with minimum length 1."
  const names: unknown[] = []
  for (const [at, tool] of asArray(tools).map(asObject).entries()) {
    const { name, parameters } = asObject(tool['function'])
    names.push(name)
    if (tool['type'] !== 'function') yield `Invalid value for 'tools[${at}].type': supported values are 'function'.`
    if (typeof name !== 'string' || !NAME.test(name)) yield badName(`tools[${at}].function.name`)
    if (parameters !== undefined && asObject(parameters)['type'] !== 'object')
      yield `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`
  }
  if (choice === undefined || choice === null) return
  if (tools === undefined) yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
  const wanted = asObject(asObject(choice)['function'])['name']
  if (!CHOICES.includes(choice) && !names.includes(wanted))
    yield `Invalid value for 'tool_choice': ${isObject(choice) ? `no tool named '${wanted}'` : `'${choice}'`}.`
}

function* messageProblems(message: Json, where: string): Generator<string> {
  const { role, content, tool_calls: toolCalls } = message
  if (!ROLES.includes(role))
    return yield `Invalid value: '${role}'. Supported values are: 'system', 'developer', 'user', 'assistant', and 'tool'.`
  const isParts = Array.isArray(content) && content.length > 0 && content.every((part) => typeof asObject(part)['type'] === 'string')
  if (role === 'assistant') {
    if (content !== undefined && content !== null && typeof content !== 'string' && !isParts)
      yield `Invalid type for '${where}.content': expected a string or an array of parts.`
    if (toolCalls === undefined && !content) yield `Invalid '${where}': an assistant message must have content or tool_calls.`
    if (toolCalls !== undefined) yield* callProblems(toolCalls, `${where}.tool_calls`)
    return
  }
  if (toolCalls !== undefined) yield `Unrecognized request argument: '${where}.tool_calls' is only allowed for role 'assistant'.`
  if (typeof content !== 'string' && !isParts) yield `Invalid value for '${where}.content': expected a string or an array of parts.`
  if (role !== 'tool') return
  if (typeof message['tool_call_id'] !== 'string') yield `Missing required parameter: '${where}.tool_call_id'.`
  if (isParts && content.some((part) => asObject(part)['type'] !== 'text'))
    yield `Invalid '${where}': messages with role 'tool' may hold text parts only.`
}

function* callProblems(toolCalls: unknown, where: string): Generator<string> {
  if (!Array.isArray(toolCalls) || toolCalls.length === 0) return yield `Invalid '${where}': expected an array with minimum length 1.`
  const ids = new Set<unknown>()
  for (const [at, call] of toolCalls.map(asObject).entries()) {
    const { name, arguments: text } = asObject(call['function'])
    if (typeof call['id'] !== 'string' || call['id'] === '') yield `Missing required parameter: '${where}[${at}].id'.`
    if (ids.has(call['id'])) yield `Duplicate value for 'tool_call_id' of '${call['id']}' in '${where}'.`
    ids.add(call['id'])
    if (call['type'] !== 'function') yield `Invalid value for '${where}[${at}].type': supported values are 'function'.`
    if (typeof name !== 'string' || !NAME.test(name)) yield badName(`${where}[${at}].function.name`)
    if (typeof text !== 'string') yield `Invalid type for '${where}[${at}].function.arguments': expected a string.`
    else if (!isObject(parseJson(text)))
      yield `Invalid '${where}[${at}].function.arguments': expected a string that holds a JSON object, but got ${JSON.stringify(text)}.`
  }
}

/** Every call has exactly one result, at once after the message that asked for it. */
function* pairingProblems(messages: readonly Json[]): Generator<string> {
  let open = new Set<unknown>()
  let answered = new Set<unknown>()
  const orphans = (): string =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`
  for (const [at, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = message['tool_call_id']
      if (answered.has(id)) yield `Invalid 'messages[${at}]': 'tool_call_id' of '${id}' already has a response message.`
      if (!open.delete(id))
        yield `Invalid 'messages[${at}]': messages with role 'tool' must be a response to a preceeding message with 'tool_calls' ('${id}' is none of its ids).`
      answered.add(id)
      continue
    }
    if (open.size > 0) yield orphans()
    open = new Set(asArray(message['tool_calls']).map((call) => asObject(call)['id']))
    answered = new Set()
  }
  if (open.size > 0) yield orphans()
}

function badName(where: string): string {
  return `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.`
}
