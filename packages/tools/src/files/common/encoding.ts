/** Bytes to text and back, losing nothing. */
import { ModelRetry } from '@mulligan/core'
import { type Magic, magic } from './magic.ts'

export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be'

export type Sniffed =
  | { readonly kind: 'text'; readonly encoding: Encoding }
  | { readonly kind: 'binary'; readonly magic: Magic | undefined }
  /** Text of some sort, but in no encoding that can be told. */
  | { readonly kind: 'undecodable'; readonly guess: string }

const BOMS: Readonly<Record<Encoding, readonly number[]>> = {
  'utf-8': [],
  'utf-8-bom': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
}

/** More bytes out of place than this, and the text is not UTF-8 with a slip but something else. */
const MAX_BAD_SHARE = 0.1

const startsWith = (bytes: Uint8Array, bom: readonly number[]): boolean => bom.every((byte, at) => bytes[at] === byte)

/** What the first bytes of a file are. A few bytes that are not UTF-8 (one bad line in a log) do not make it another encoding. */
export function sniff(head: Uint8Array): Sniffed {
  const encoding = marked(head)
  if (encoding !== 'utf-8') return { kind: 'text', encoding }
  const known = magic(head)
  if (known && (head.includes(0) || bad(head) > 0 || known.mediaType === 'application/pdf')) return { kind: 'binary', magic: known }
  if (head.includes(0)) {
    const halves = [0, 0]
    head.forEach((byte, at) => {
      if (byte === 0) halves[at % 2] = (halves[at % 2] ?? 0) + 1
    })
    const [even = 0, odd = 0] = halves
    if (Math.max(even, odd) > head.length * 0.4 && Math.min(even, odd) < head.length * 0.05)
      return { kind: 'undecodable', guess: 'UTF-16 without a byte order mark' }
    return { kind: 'binary', magic: undefined }
  }
  if (bad(head) > head.length * MAX_BAD_SHARE) return { kind: 'undecodable', guess: 'an 8-bit or East Asian encoding' }
  return { kind: 'text', encoding }
}

/** What the byte order mark says; UTF-8 without one. */
export const marked = (head: Uint8Array): Encoding =>
  (['utf-8-bom', 'utf-16le', 'utf-16be'] as const).find((encoding) => startsWith(head, BOMS[encoding])) ?? 'utf-8'

/** Characters that UTF-8 can't make of the bytes; one cut off at the end of the head does not count. */
function bad(head: Uint8Array): number {
  const text = new TextDecoder('utf-8').decode(head, { stream: true })
  return text.split('\ufffd').length - 1
}

/** A decoder for a stream of chunks; the byte order mark is taken off. */
export const decoder = (encoding: Encoding) => new TextDecoder(encoding === 'utf-8-bom' ? 'utf-8' : encoding)

/** The text of a whole file, or `undefined` when writing it back would not give the same bytes. */
export function decode(bytes: Uint8Array, encoding: Encoding): string | undefined {
  try {
    return new TextDecoder(encoding === 'utf-8-bom' ? 'utf-8' : encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * @param parameter where the text comes from, for the model
 * @throws ModelRetry (validation) for half of a surrogate pair: it would be written as another character
 */
export function encode(text: string, encoding: Encoding, parameter?: string): Buffer {
  if (!text.isWellFormed()) throw halfCharacter(text, parameter)
  const bom = Buffer.from(BOMS[encoding])
  if (encoding === 'utf-8' || encoding === 'utf-8-bom') return Buffer.concat([bom, Buffer.from(text, 'utf8')])
  const units = Buffer.from(text, 'utf16le')
  return Buffer.concat([bom, encoding === 'utf-16be' ? units.swap16() : units])
}

function halfCharacter(text: string, parameter: string | undefined): ModelRetry {
  const before = text.slice(0, text.search(/\p{Surrogate}/u))
  const unit = `\\u${text.charCodeAt(before.length).toString(16)}`
  const line = before.split('\n').length
  return new ModelRetry(
    `Line ${line} of the text has half of a character, ${unit}, in column ${before.length - before.lastIndexOf('\n')}. Nothing was written.`,
    {
      errorType: 'validation',
      ...(parameter !== undefined && { parameter }),
      value: unit,
      constraint: 'whole characters: no surrogate (\\ud800 to \\udfff) without its other half',
    },
  )
}
