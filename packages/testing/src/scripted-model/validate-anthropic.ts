/** The rules by which Anthropic's messages refuse a request, with their wording where it is known. */
import { asArray, asObject, isObject, type Json } from './json.ts'
import { firstProblem, type Problem } from './problem.ts'
import { blockProblems } from './validate-anthropic-blocks.ts'
import { type Signing, thinkingProblems } from './validate-anthropic-thinking.ts'

const NAME = /^[a-zA-Z0-9_-]{1,128}$/
const CHOICES: readonly unknown[] = ['auto', 'any', 'tool', 'none']

/** What the check of a messages body needs to know besides the body. */
export interface AnthropicRules extends Signing {
  /** Calls in the history need `tools` in the request. */
  readonly toolsRequired?: boolean
}

/** What the headers of a messages request lack, if anything. */
export function validateAnthropicHeaders(headers: Readonly<Record<string, string>>): Problem | undefined {
  if (!headers['x-api-key'] && !headers['authorization']) return { status: 401, message: 'x-api-key header is required' }
  if (!headers['anthropic-version']) return { status: 400, message: 'anthropic-version: header is required' }
  return undefined
}

/** What a messages body does wrong, if anything. */
export function validateAnthropic(body: unknown, rules: AnthropicRules): Problem | undefined {
  return firstProblem(problems(body, rules))
}

function* problems(body: unknown, rules: AnthropicRules): Generator<string> {
  if (!isObject(body)) return yield 'The request body is not valid JSON'
  if (typeof body['model'] !== 'string' || body['model'] === '') yield 'model: Field required'
  if (!Number.isInteger(body['max_tokens'])) yield 'max_tokens: Field required'
  if (Number(body['max_tokens']) < 1) yield 'max_tokens: Input should be greater than or equal to 1'
  if (!Array.isArray(body['messages'])) return yield 'messages: Field required'
  if (body['messages'].length === 0) yield 'messages: at least one message is required'
  const messages = body['messages'].map(asObject)
  yield* systemProblems(body['system'])
  yield* toolProblems(body)
  if (messages[0]?.['role'] !== 'user') yield 'messages: first message must use the "user" role'
  for (const [at, message] of messages.entries()) yield* blockProblems(message, `messages.${at}`)
  yield* pairingProblems(messages)
  if (rules.toolsRequired !== false && asArray(body['tools']).length === 0 && messages.some(hasToolBlock))
    yield 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
  yield* thinkingProblems(messages, asObject(body['thinking'])['type'], rules)
}

function* systemProblems(system: unknown): Generator<string> {
  if (system === undefined || typeof system === 'string') return
  if (!Array.isArray(system)) return yield 'system: Input should be a valid list'
  for (const block of system.map(asObject)) {
    if (block['type'] !== 'text' || typeof block['text'] !== 'string') yield 'system: Input should be text blocks'
    if (block['text'] === '') yield 'system: text content blocks must be non-empty'
  }
}

function* toolProblems({ tools, tool_choice: choice, thinking, max_tokens: maxTokens }: Json): Generator<string> {
  if (tools !== undefined && !Array.isArray(tools)) yield 'tools: Input should be a valid list'
  const names = asArray(tools).map((tool) => asObject(tool)['name'])
  for (const [at, tool] of asArray(tools).map(asObject).entries()) {
    const name = names[at]
    if (typeof name !== 'string' || !NAME.test(name)) yield `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`
    if (names.indexOf(name) !== at) yield 'tools: Tool names must be unique.'
    // tools of the provider's own have a versioned type and no schema
    const isCustom = tool['type'] === undefined || tool['type'] === 'custom'
    if (isCustom && asObject(tool['input_schema'])['type'] !== 'object')
      yield `tools.${at}.custom.input_schema.type: Input should be 'object'`
  }
  const { type: thinks, budget_tokens: budget } = asObject(thinking)
  if (thinks === 'enabled' && Number(budget) >= Number(maxTokens)) yield '`max_tokens` must be greater than `thinking.budget_tokens`.'
  if (choice === undefined) return
  const { type, name } = asObject(choice)
  if (names.length === 0) yield 'tool_choice may only be specified while providing tools.'
  if (!CHOICES.includes(type)) yield "tool_choice: Input should be one of 'auto', 'any', 'tool', 'none'"
  if (type === 'tool' && !names.includes(name)) yield `tool_choice: Tool '${name}' not found in provided tools`
  if (thinks === 'enabled' && (type === 'any' || type === 'tool')) yield 'Thinking may not be enabled when tool_choice forces tool use.'
}

/** Every call has exactly one result, in the message right after the one that asked for it. */
function* pairingProblems(messages: readonly Json[]): Generator<string> {
  const seen = new Set<unknown>()
  let open: readonly unknown[] = []
  for (const [at, message] of messages.entries()) {
    const results = idsOf(message, 'tool_result', 'tool_use_id')
    const stray = results.find((id) => !open.includes(id))
    if (stray !== undefined)
      yield `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    const doubled = results.find((id, index) => results.indexOf(id) !== index)
    if (doubled !== undefined)
      yield `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${doubled}`
    const missing = open.filter((id) => !results.includes(id))
    if (missing.length > 0) yield orphans(at - 1, missing)
    open = idsOf(message, 'tool_use', 'id')
    for (const id of open) {
      if (seen.has(id)) yield `messages.${at}: \`tool_use\` ids must be unique (${id})`
      seen.add(id)
    }
  }
  if (open.length > 0) yield orphans(messages.length - 1, open)
}

function orphans(at: number, ids: readonly unknown[]): string {
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
}

function idsOf(message: Json, type: string, key: string): unknown[] {
  const blocks = asArray(message['content']).map(asObject)
  return blocks.filter((block) => block['type'] === type).map((block) => block[key])
}

function hasToolBlock(message: Json): boolean {
  return asArray(message['content']).some((block) => ['tool_use', 'tool_result'].includes(String(asObject(block)['type'])))
}
