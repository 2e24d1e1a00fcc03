/** Reads Gemma's own notation of calls: `call:f{k:<|"|>text<|"|>,n:5,l:[true]}`. Strings have no escapes; their quotes are tokens. */

import { matchAt, parseJson, skip } from '../../text.ts'
import type { Block, MarkupCall, Source } from '../family.ts'
import { afterCloser, afterNoise } from './closers.ts'
import { WORDS } from './python.ts'

interface Tokens {
  readonly opener: string
  /** Ends a call even if brackets are open, unless a string continues past it. */
  readonly closer: string
  readonly quote: string
}

export const GEMMA: Tokens = { opener: '<|tool_call>', closer: '<tool_call|>', quote: '<|"|>' }
/** Remains of the opening token after an image. Anybody may write it, so the name decides. */
export const BROKEN = '<call>'
/** The end of a turn, which may replace the end of a call. */
const TURN = '<turn|>'

const HEAD = /\s*:?(?:call:\s*([\w.:/-]{1,128})|([\w.:/-]{1,128})(?=\s*\{))\s*/y

export function readGemmaCall(source: Source, at: number, tokens: Tokens): Block | undefined {
  const { text, tools } = source
  const { opener, closer } = tokens
  const inside = at + opener.length
  const [whole = '', called, bare] = matchAt(HEAD, text, inside) ?? []
  const from = inside + whole.length
  const name = called ?? bare
  if (opener === BROKEN && (name === undefined || text[from] !== '{' || !tools.exact(name))) return undefined
  if (name === undefined)
    return 'call:'.startsWith(text.slice(inside).trim()) ? { calls: [], end: text.length, complete: false } : undefined
  const closed = afterCloser(text, from, [closer])
  const call = (value: Record<string, unknown>, more: object = {}): MarkupCall => ({ name, arguments: { kind: 'object', value }, ...more })
  if (from >= text.length) return { calls: [call({}, { cutOff: true })], end: text.length, complete: false }
  if (closed > from) return { calls: [call({})], end: closed, complete: true }
  if (text[from] !== '{') return undefined
  const reader: Reader = { ...tokens, source, at: from, cut: false }
  const value = readContainer(reader, 0) as Record<string, unknown>
  if (reader.cut) return { calls: [call(value, { cutOff: true })], end: text.length, complete: false }
  const block = blockEnd(reader)
  const { damage, lost } = reader
  // Values read despite damage are the model's. If something was lost, nobody knows what, so the call is passed on as text and
  // refused.
  const unread = lost && { arguments: { kind: 'unread', text: text.slice(from, block.end) } }
  return { ...block, calls: [call(value, { ...unread, ...(damage !== undefined && { damage, unsure: true }) })] }
}

function blockEnd({ source, at, opener, closer, damage }: Reader): Pick<Block, 'end' | 'complete'> {
  const { text } = source
  const closed = afterNoise(text, at, [closer, TURN], ' \t\r\n}]')
  if (closed > at) return { end: afterNoise(text, closed, [TURN]), complete: true }
  if (damage === undefined) return { end: at, complete: true }
  // After damage in the middle, the rest of the call is not part of the answer either.
  const stop = source.find(closer, at)
  const other = source.find(opener, at)
  const own = stop !== -1 && (other === -1 || stop < other)
  return own ? { end: stop + closer.length, complete: true } : { end: other === -1 ? text.length : other, complete: false }
}

interface Reader extends Tokens {
  readonly source: Source
  at: number
  /** The text ended before the value did. */
  cut: boolean
  damage?: string
  /** The call contains more than could be read. */
  lost?: true
}

const DEPTH = 100

/** Reads the object or list at the reader, or as much of it as there is. */
function readContainer(reader: Reader, depth: number): unknown {
  const { text } = reader.source
  const isList = text[reader.at] === '['
  const entries: [string, unknown][] = []
  reader.at++
  while (!ends(reader, isList ? ']' : '}')) {
    const before = reader.at
    const key = isList ? '' : readKey(reader)
    if (!isList && text[reader.at] !== ':') {
      if (reader.at >= text.length) reader.cut = true
      else lose(reader, 'a key had no value')
      break
    }
    reader.at = skip(text, isList ? reader.at : reader.at + 1)
    entries.push([key, readValue(reader, depth + 1)])
    if (reader.at === before) lose(reader, 'a list was broken')
  }
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

function lose(reader: Reader, damage: string): void {
  reader.damage ??= damage
  reader.lost = true
}

/** Returns true and moves past the closing bracket, or if the call simply ends, which is damage. Skips a comma. */
function ends(reader: Reader, bracket: string): boolean {
  const { text } = reader.source
  reader.at = skip(text, reader.at, ' \t\r\n,')
  if (reader.at >= text.length) reader.cut = true
  else if (text[reader.at] === bracket) reader.at++
  else if (text.startsWith(reader.closer, reader.at) || '}])'.includes(text[reader.at] as string)) reader.damage ??= 'a bracket was missing'
  else return reader.cut || reader.damage !== undefined
  return true
}

const KEY = /[^:,{}[\]\n]*/y

function readKey(reader: Reader): string {
  const { text } = reader.source
  if (text.startsWith(reader.quote, reader.at)) {
    const key = readText(reader)
    reader.at = skip(text, reader.at)
    return key
  }
  const [key = ''] = matchAt(KEY, text, reader.at) ?? []
  reader.at += key.length
  return key.trim().replace(/^(["'])(.*)\1$/, '$2')
}

function readValue(reader: Reader, depth: number): unknown {
  const { text } = reader.source
  if (depth > DEPTH) lose(reader, 'nested too deep')
  else if (text[reader.at] === '{' || text[reader.at] === '[') return readContainer(reader, depth)
  return text.startsWith(reader.quote, reader.at) ? readText(reader) : readBare(reader)
}

/** Reads a string. A closing quote that appears only after the end of the call, in an impossible place, belongs to the next call. */
function readText(reader: Reader): string {
  const { source, quote, closer } = reader
  const { text } = source
  const from = reader.at + quote.length
  const end = source.find(quote, from)
  const stop = source.find(closer, from)
  const fits = end !== -1 && /[,}\]:]/.test(text[skip(text, end + quote.length)] ?? ',')
  if (stop !== -1 && (end === -1 || (stop < end && !fits))) {
    reader.damage ??= 'a text was not closed'
    reader.at = stop
    return text.slice(from, stop).replace(/["']?\s*[}\]]*\s*$/, '')
  }
  if (end === -1) reader.cut = true
  reader.at = end === -1 ? text.length : end + quote.length
  return text.slice(from, end === -1 ? text.length : end)
}

const JSON_TEXT = /"(?:[^"\\\n]|\\.)*"(?=\s*[,}\]])/y
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function readBare(reader: Reader): unknown {
  const { at, closer, source } = reader
  const { text } = source
  const [quoted] = matchAt(JSON_TEXT, text, at) ?? []
  let end = at + (quoted?.length ?? 0)
  if (quoted === undefined) while (end < text.length && !',}]'.includes(text[end] as string) && !text.startsWith(closer, end)) end++
  reader.at = end
  if (end >= text.length) reader.cut = true
  const written = text.slice(at, end).trim()
  const word = quoted === undefined ? unquoted(written, reader.quote) : written
  if (word !== written) {
    reader.damage ??= 'a text had quotes of another kind'
    return word
  }
  if (quoted !== undefined || NUMBER.test(word)) return parseJson(word) ?? word
  return Object.hasOwn(WORDS, word) ? WORDS[word] : word
}

/** Removes quotes and tokens from the ends of a value. */
function unquoted(word: string, token: string): string {
  const inner = word.replaceAll(token, '')
  return inner === word ? word.replace(/^'([\s\S]*)'$/, '$1') : inner.replace(/^["']|["']$/g, '')
}
