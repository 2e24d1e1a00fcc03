/**
 * Signed thinking, as Anthropic has it: a thinking block has a signature, and may only be sent back unchanged and with the calls that
 * followed it. The real signature is opaque; this one is an HMAC over the text and the calls, so that a change to either is detected.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { asArray, asObject, isObject, type Json } from './json.ts'
import type { Rules } from './protocol.ts'

/** The part of a call that a signature covers. */
export interface SignedCall {
  readonly name?: unknown
  readonly input?: unknown
}

/** How much of a call is covered: all of it, only the name (the input is not an object and can't be sent back), or nothing (no name). */
type Cover = 'a' | 'n' | '-'

/** The signature of a thinking block and the calls after it. */
export function sign(secret: string, thinking: string, calls: readonly SignedCall[]): string {
  const covers = calls.map(({ name, input }): Cover => (typeof name !== 'string' ? '-' : isObject(input) ? 'a' : 'n'))
  return Buffer.from(`${covers.join('')}.${mac(secret, thinking, calls, covers)}`).toString('base64')
}

/** True if thinking, signature and calls are unchanged since {@link sign} made the signature with this secret. */
export function isUnaltered(secret: string, thinking: string, signature: string, calls: readonly SignedCall[]): boolean {
  const [covers = '', found = ''] = Buffer.from(signature, 'base64').toString().split('.')
  const expected = mac(secret, thinking, calls, [...covers] as Cover[])
  // Decoding base64 ignores invalid characters, so the text itself is compared too.
  if (covers.length !== calls.length || Buffer.from(`${covers}.${found}`).toString('base64') !== signature) return false
  return found.length === expected.length && timingSafeEqual(Buffer.from(found), Buffer.from(expected))
}

function mac(secret: string, thinking: string, calls: readonly SignedCall[], covers: readonly Cover[]): string {
  const covered = calls.map(({ name, input }, at) => [covers[at] === '-' ? '' : name, covers[at] === 'a' ? sorted(input) : ''])
  return createHmac('sha256', secret)
    .update(JSON.stringify([thinking, covers.join(''), covered]))
    .digest('hex')
}

/** Ignores the order of keys, which a client may change. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['[', ...value.map(sorted)]
  if (!isObject(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return ['{', ...entries.map(([key, member]) => [key, sorted(member)])]
}

/** What is wrong with the thinking blocks of a history. `mode` is the type in the request's `thinking`. */
export function* thinkingProblems(messages: readonly Json[], mode: unknown, { secret, isSigned }: Rules): Generator<string> {
  for (const [at, { role, content }] of messages.entries()) {
    const blocks = role === 'assistant' ? asArray(content).map(asObject) : []
    for (const [index, { type, thinking, signature }] of blocks.entries()) {
      if (type !== 'thinking') continue
      const after = blocks.slice(index + 1)
      const next = after.findIndex((block) => block['type'] === 'thinking')
      const calls = after.slice(0, next === -1 ? undefined : next).filter((block) => block['type'] === 'tool_use')
      if (!isUnaltered(secret, String(thinking), String(signature), calls))
        yield `messages.${at}.content.${index}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`
    }
  }
  // A client that has switched thinking off may leave the blocks out.
  if (mode === 'disabled') return
  const at = messages.findLastIndex((message) => message['role'] === 'assistant')
  const blocks = asArray(messages[at]?.['content']).map(asObject)
  if (blocks.some((block) => block['type'] === 'thinking')) return
  if (blocks.some((block) => block['type'] === 'tool_use' && isSigned(String(block['id']))))
    yield `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.['type']}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`
}
