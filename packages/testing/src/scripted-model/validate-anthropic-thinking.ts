/** Signed thinking comes back as it was, or not at all; in an unfinished tool loop it has to come back. */
import { asArray, asObject, type Json } from './json.ts'
import { isUnaltered, type SignedCall } from './signature.ts'

export interface Signing {
  readonly secret: string
  /** True for the id of a call that this server sent after a thinking block. */
  readonly isSigned: (callId: string) => boolean
}

/** What the thinking blocks of a history do wrong. `mode` is the type in the request's `thinking`. */
export function* thinkingProblems(messages: readonly Json[], mode: unknown, signing: Signing): Generator<string> {
  for (const [at, message] of messages.entries()) {
    if (message['role'] !== 'assistant') continue
    for (const block of thinkingBlocks(asArray(message['content']).map(asObject))) {
      const where = `messages.${at}.content.${block.at}`
      if (typeof block.thinking !== 'string') yield `${where}.thinking.thinking: Field required`
      else if (typeof block.signature !== 'string') yield `${where}.thinking.signature: Field required`
      else if (!isUnaltered(signing.secret, block.thinking, block.signature, block.calls))
        yield `${where}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`
    }
  }
  // who has switched thinking off may leave it out
  if (mode !== 'disabled') yield* droppedProblems(messages, signing)
}

function* droppedProblems(messages: readonly Json[], { isSigned }: Signing): Generator<string> {
  const at = messages.findLastIndex((message) => message['role'] === 'assistant')
  const blocks = asArray(messages[at]?.['content']).map(asObject)
  if (blocks.some((block) => block['type'] === 'thinking')) return
  if (blocks.some((block) => block['type'] === 'tool_use' && isSigned(String(block['id']))))
    yield `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.['type']}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`
}

interface ThinkingBlock {
  readonly at: number
  readonly thinking: unknown
  readonly signature: unknown
  readonly calls: readonly SignedCall[]
}

/** Each thinking block with the calls up to the next one. */
function thinkingBlocks(blocks: readonly Json[]): ThinkingBlock[] {
  const found: (ThinkingBlock & { calls: SignedCall[] })[] = []
  for (const [at, block] of blocks.entries()) {
    if (block['type'] === 'thinking') found.push({ at, thinking: block['thinking'], signature: block['signature'], calls: [] })
    if (block['type'] === 'tool_use') found.at(-1)?.calls.push({ name: block['name'], input: block['input'] })
  }
  return found
}
