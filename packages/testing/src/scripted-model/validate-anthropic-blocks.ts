/** The rules for one message of an Anthropic request, whatever stands around it. */
import { asArray, asObject, isObject, type Json } from './json.ts'

const ID = /^[a-zA-Z0-9_-]+$/
const NAME = /^[a-zA-Z0-9_-]{1,128}$/

const ALLOWED: Readonly<Record<string, readonly unknown[]>> = {
  user: ['text', 'image', 'document', 'tool_result'],
  assistant: ['text', 'thinking', 'tool_use'],
}

/** What a message does wrong by itself. `where` is its path in the request. */
export function* blockProblems(message: Json, where: string): Generator<string> {
  const { role, content } = message
  const allowed = typeof role === 'string' ? ALLOWED[role] : undefined
  if (!allowed) return yield `${where}.role: Unexpected role "${role}". Allowed roles are "user" or "assistant".`
  if (typeof content === 'string') {
    if (content === '') yield `${where}: all messages must have non-empty content`
    if (content.trim() === '') yield `${where}: text content blocks must contain non-whitespace text`
    return
  }
  if (!Array.isArray(content)) return yield `${where}.content: Field required`
  if (content.length === 0) yield `${where}: all messages must have non-empty content`
  for (const [at, block] of content.map(asObject).entries()) {
    const place = `${where}.content.${at}`
    if (!allowed.includes(block['type']))
      yield `${place}: Input tag '${block['type']}' found does not match any of the expected tags: ${allowed}`
    if (block['type'] === 'text') yield* textProblems(block, place)
    if (block['type'] === 'tool_use') yield* useProblems(block, `${place}.tool_use`)
    if (block['type'] === 'tool_result') yield* resultProblems(block, `${place}.tool_result`)
  }
  const types = content.map((block) => asObject(block)['type'])
  const firstOther = types.findIndex((type) => type !== 'tool_result')
  if (firstOther !== -1 && types.lastIndexOf('tool_result') > firstOther)
    yield `${where}: \`tool_result\` blocks must come first in the content of the message.`
}

function* textProblems(block: Json, where: string): Generator<string> {
  if (typeof block['text'] !== 'string') yield `${where}.text.text: Field required`
  if (block['text'] === '') yield `${where}: text content blocks must be non-empty`
  if (String(block['text']).trim() === '') yield `${where}: text content blocks must contain non-whitespace text`
}

function* useProblems({ id, name, input }: Json, where: string): Generator<string> {
  if (typeof id !== 'string' || !ID.test(id)) yield `${where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
  if (typeof name !== 'string' || !NAME.test(name)) yield `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`
  if (!isObject(input)) yield `${where}.input: Input should be a valid dictionary`
}

function* resultProblems(block: Json, where: string): Generator<string> {
  const { tool_use_id: id, content, is_error: isError } = block
  if (typeof id !== 'string' || !ID.test(id)) yield `${where}.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'`
  if (isError !== undefined && typeof isError !== 'boolean') yield `${where}.is_error: Input should be a valid boolean`
  if (content !== undefined && typeof content !== 'string' && !Array.isArray(content))
    yield `${where}.content: Input should be a valid list`
  if (isError === true && (content === undefined || content === '' || (Array.isArray(content) && content.length === 0)))
    yield `${where}: content cannot be empty if \`is_error\` is true`
  for (const [at, part] of asArray(content).map(asObject).entries()) {
    if (!['text', 'image', 'document'].includes(String(part['type'])))
      yield `${where}.content.${at}: Input tag '${part['type']}' found does not match any of the expected tags: text, image, document`
    if (part['type'] === 'text') yield* textProblems(part, `${where}.content.${at}`)
  }
}
