/** Gemma's own notation of values: `{k:<|"|>text<|"|>,n:5,l:[true]}`. Nothing in a text is escaped, its quotes are tokens. */

import { parseJson } from '../../arguments/brackets.ts'
import type { Source } from '../family.ts'
import { skip } from './json-extent.ts'
import { WORDS } from './python.ts'

export interface GemmaReader {
  readonly source: Source
  readonly quote: string
  /** Ends a call whatever is open, unless a text goes on past it. */
  readonly closer: string
  at: number
  /** The text ended before the value did. */
  cut: boolean
  damage?: string
  /** There is more in the call than could be read. */
  lost?: true
}

const DEPTH = 100

/** The object at the reader, or what there is of it. */
export function readGemmaObject(reader: GemmaReader, depth = 0): Record<string, unknown> {
  const { text } = reader.source
  const entries: [string, unknown][] = []
  reader.at++
  while (!ends(reader, '}')) {
    const key = readKey(reader)
    if (text[reader.at] !== ':') {
      if (reader.at >= text.length) reader.cut = true
      else lose(reader, 'a key had no value')
      break
    }
    reader.at++
    entries.push([key, readGemmaValue(reader, depth + 1)])
  }
  return Object.fromEntries(entries)
}

function lose(reader: GemmaReader, damage: string): void {
  reader.damage ??= damage
  reader.lost = true
}

/** True, and the reader behind it, at the closing bracket; also where the call just ends, which is damage. Steps over a comma. */
function ends(reader: GemmaReader, bracket: string): boolean {
  const { text } = reader.source
  reader.at = skip(text, reader.at, ' \t\r\n,')
  if (reader.at >= text.length) reader.cut = true
  else if (text[reader.at] === bracket) reader.at++
  else if (text.startsWith(reader.closer, reader.at) || '}])'.includes(text[reader.at] as string)) reader.damage ??= 'a bracket was missing'
  else return reader.cut || reader.damage !== undefined
  return true
}

function readKey(reader: GemmaReader): string {
  const { text } = reader.source
  if (text.startsWith(reader.quote, reader.at)) {
    const key = readText(reader)
    reader.at = skip(text, reader.at)
    return key
  }
  const from = reader.at
  while (reader.at < text.length && !':,{}[]\n'.includes(text[reader.at] as string)) reader.at++
  return text
    .slice(from, reader.at)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
}

function readGemmaValue(reader: GemmaReader, depth: number): unknown {
  const { text } = reader.source
  reader.at = skip(text, reader.at)
  if (depth > DEPTH) lose(reader, 'nested too deep')
  else if (text[reader.at] === '{') return readGemmaObject(reader, depth)
  else if (text[reader.at] === '[') return readList(reader, depth)
  if (text.startsWith(reader.quote, reader.at)) return readText(reader)
  return readBare(reader)
}

function readList(reader: GemmaReader, depth: number): readonly unknown[] {
  const items: unknown[] = []
  reader.at++
  while (!ends(reader, ']')) {
    const before = reader.at
    items.push(readGemmaValue(reader, depth + 1))
    if (reader.at === before) lose(reader, 'a list was broken')
  }
  return items
}

/** A closing quote that stands only behind the end of the call, and in no place for one, belongs to the next call. */
function readText(reader: GemmaReader): string {
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

function readBare(reader: GemmaReader): unknown {
  const { text } = reader.source
  JSON_TEXT.lastIndex = reader.at
  const [quoted] = JSON_TEXT.exec(text) ?? []
  const from = reader.at
  reader.at = quoted === undefined ? bareEnd(reader) : from + quoted.length
  if (reader.at >= text.length) reader.cut = true
  const written = text.slice(from, reader.at).trim()
  const word = quoted === undefined ? unquoted(written, reader.quote) : written
  if (word !== written) {
    reader.damage ??= 'a text had quotes of another kind'
    return word
  }
  if (quoted !== undefined || NUMBER.test(word)) return parseJson(word) ?? word
  return Object.hasOwn(WORDS, word) ? WORDS[word] : word
}

/** A value without the quotes and the tokens at its ends, which belong to no value. */
function unquoted(word: string, token: string): string {
  const inner = word.replaceAll(token, '')
  return inner === word ? word.replace(/^'([\s\S]*)'$/, '$1') : inner.replace(/^["']|["']$/g, '')
}

function bareEnd({ source: { text }, at, closer }: GemmaReader): number {
  let end = at
  while (end < text.length && !',}]'.includes(text[end] as string) && !(text[end] === '<' && text.startsWith(closer, end))) end++
  return end
}
