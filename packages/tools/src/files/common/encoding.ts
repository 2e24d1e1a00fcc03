/** Converts bytes to text and back without loss. */
import { ModelRetry } from '@mulligan/core'
import { about } from '../../workspace/errors.ts'
import { type Magic, magic } from './magic.ts'

export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be'

export type Sniffed =
  | { readonly kind: 'text'; readonly encoding: Encoding }
  | { readonly kind: 'binary'; readonly magic: Magic | undefined }
  /** Text of some kind, but in an unknown encoding. */
  | { readonly kind: 'undecodable'; readonly guess: string }

const BOMS: Readonly<Record<Encoding, readonly number[]>> = {
  'utf-8-bom': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
  'utf-8': [],
}

/** If a larger share of the bytes is invalid, the text is not damaged UTF-8 but something else. */
const MAX_BAD_SHARE = 0.1

/** Detects the type of a file from its first bytes. A few invalid UTF-8 bytes (one bad line in a log) do not change the encoding. */
export function sniff(head: Uint8Array): Sniffed {
  const encoding = marked(head)
  if (encoding !== 'utf-8') return { kind: 'text', encoding }
  const known = magic(head)
  // A character cut off at the end of the head is not an error.
  const bad = new TextDecoder().decode(head, { stream: true }).split('\ufffd').length - 1
  if (known && (head.includes(0) || bad > 0 || known.mediaType === 'application/pdf')) return { kind: 'binary', magic: known }
  if (head.includes(0)) {
    const zeros = (parity: number): number => head.filter((byte, at) => byte === 0 && at % 2 === parity).length
    const [even, odd] = [zeros(0), zeros(1)]
    if (Math.max(even, odd) > head.length * 0.4 && Math.min(even, odd) < head.length * 0.05)
      return { kind: 'undecodable', guess: 'UTF-16 without a byte order mark' }
    return { kind: 'binary', magic: undefined }
  }
  if (bad > head.length * MAX_BAD_SHARE) return { kind: 'undecodable', guess: 'an 8-bit or East Asian encoding' }
  return { kind: 'text', encoding }
}

/** Returns the encoding given by the byte order mark, or UTF-8 without one. */
export const marked = (head: Uint8Array): Encoding =>
  (Object.keys(BOMS) as Encoding[]).find((encoding) => BOMS[encoding].every((byte, at) => head[at] === byte)) as Encoding

/** Returns a decoder for a stream of chunks. It removes the byte order mark. */
export const decoder = (encoding: Encoding, options: { readonly fatal?: boolean } = {}) =>
  new TextDecoder(encoding === 'utf-8-bom' ? 'utf-8' : encoding, options)

/** Decodes a whole file. Returns `undefined` if encoding the text again would not give the same bytes. */
export function decode(bytes: Uint8Array, encoding: Encoding): string | undefined {
  try {
    return decoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * @param parameter the tool parameter that the text comes from, for the error
 * @throws ModelRetry (validation) for half of a surrogate pair, which would be written as another character
 */
export function encode(text: string, encoding: Encoding, parameter?: string): Buffer {
  if (!text.isWellFormed()) throw halfCharacter(text, parameter)
  const bom = Buffer.from(BOMS[encoding])
  if (encoding.startsWith('utf-8')) return Buffer.concat([bom, Buffer.from(text, 'utf8')])
  const units = Buffer.from(text, 'utf16le')
  return Buffer.concat([bom, encoding === 'utf-16be' ? units.swap16() : units])
}

function halfCharacter(text: string, parameter?: string): ModelRetry {
  const before = text.slice(0, text.search(/\p{Surrogate}/u))
  const unit = `\\u${text.charCodeAt(before.length).toString(16)}`
  const place = `Line ${before.split('\n').length} of the text has half a character, ${unit}, in column ${before.length - before.lastIndexOf('\n')}.`
  const constraint = 'whole characters: no surrogate (\\ud800 to \\udfff) without its other half'
  return new ModelRetry(`${place} Nothing was written.`, {
    ...(parameter === undefined ? { value: unit, constraint } : about(parameter, unit, constraint)),
  })
}
