/**
 * Signed thinking, as Anthropic has it: a thinking block comes with a signature, and may be sent back only as it was, with the calls that
 * followed it. The real signature is opaque; this one is an HMAC over the text and the calls, so that a change to either is found.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject } from './json.ts'

/** A call as far as a signature covers it. */
export interface SignedCall {
  readonly name: unknown
  readonly input: unknown
}

/** How much of a call is covered: all of it, its name only (the input was not an object, so can't be sent back), nothing (no name either). */
type Cover = 'a' | 'n' | '-'

/** The signature of a thinking block and the calls after it. */
export function sign(secret: string, thinking: string, calls: readonly SignedCall[]): string {
  const covers = calls.map(({ name, input }): Cover => (typeof name !== 'string' ? '-' : isObject(input) ? 'a' : 'n'))
  return Buffer.from(`${covers.join('')}.${mac(secret, thinking, calls, covers)}`).toString('base64')
}

/** True when thinking, signature and calls are as they were when {@link sign} made the signature with this secret. */
export function isUnaltered(secret: string, thinking: string, signature: string, calls: readonly SignedCall[]): boolean {
  const [covers = '', found = ''] = Buffer.from(signature, 'base64').toString().split('.')
  const expected = mac(secret, thinking, calls, [...covers] as Cover[])
  // base64 decoding forgives stray characters, so the text itself is compared too
  if (covers.length !== calls.length || Buffer.from(`${covers}.${found}`).toString('base64') !== signature) return false
  return found.length === expected.length && timingSafeEqual(Buffer.from(found), Buffer.from(expected))
}

function mac(secret: string, thinking: string, calls: readonly SignedCall[], covers: readonly Cover[]): string {
  const covered = calls.map(({ name, input }, at) => [covers[at] === '-' ? '' : name, covers[at] === 'a' ? sorted(input) : ''])
  return createHmac('sha256', secret)
    .update(JSON.stringify([thinking, covers.join(''), covered]))
    .digest('hex')
}

/** The order of keys is not a change: JSON objects that pass through a client may come back in another. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['[', ...value.map(sorted)]
  if (!isObject(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return ['{', ...entries.map(([key, member]) => [key, sorted(member)])]
}
