/** Reads strings for the tolerant JSON reader: finds the end of a string with unescaped quotes and decodes it. */

import { matchEnd } from '../text.ts'
import { cutOff, fix, peek, restructure, SPACE, type State, unclear } from './json-state.ts'

/** Maps each opening quote to its closing quote. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '”': '”', '‘': '’', '’': '’' }

export const isQuote = (char: string | undefined): boolean => char !== undefined && Object.hasOwn(QUOTES, char)
export const isCloser = (char: string): boolean => '}])'.includes(char)

/** Maximum number of quotes inside a string. No long file reaches it, and it bounds the reader's work. */
const MAX_INSIDE = 20_000
const WORD = /[\p{L}\p{N}_]/u
const LETTER = /\p{L}/u
const KEY_AHEAD =
  /(?:"(?:[^"\\]|\\.){0,200}(?:"\s*(?::|$)|$)|'(?:[^'\\]|\\.){0,200}(?:'\s*(?::|$)|$)|[“”‘’][^“”‘’]{0,200}(?:[”’]\s*(?::|$)|$)|"[\w.-]{1,100}"\s+(?:["{[]|-?\d|true|false|null))/sy
const BARE_KEY_AHEAD = /[A-Za-z_$][\w$.-]{0,100}\s*(?::|$)/y
const ITEM_AHEAD = /["'“”‘’{[]|(?:-?\d[\d.eE+-]{0,30}|true|false|null|True|False|None)\s*(?:[,\]})]|$)/y
const QUOTED_ITEM_AHEAD =
  /(?:"(?:[^"\\]|\\.){0,200}"|'(?:[^'\\]|\\.){0,200}'|[“”][^“”]{0,200}”)\s*(?:[,\]})"'“”{[]|$)|-?\d|true|false|null/sy
/** Meaningless text that may follow the value. */
export const TAIL = /(?:[\s,;)\]}]|\[\s*\]|\{\s*\})*/y

/** Reads the string that starts at the current position and moves past it. */
export function readString(state: State, isKey = false): string {
  const { text, position: start } = state
  const quote = text[start] as string
  const close = QUOTES[quote] as string
  const inside: number[] = []
  if (quote !== '"') fix(state, quote === "'" ? 'single quotes' : 'typographic quotes', start)
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    if (char !== close) continue
    if (isApostrophe(text, at)) {
      fix(state, 'an unescaped apostrophe', at)
      state.apostrophes = true
    } else if (isKey || state.strict || fits(state, at + 1, close)) {
      if (inside.length > 0) acceptInside(state, inside, at)
      state.position = at + 1
      return decode(state, start + 1, at, close)
    } else if (inside.push(at) > MAX_INSIDE) throw unclear(start)
  }
  if (inside.length > 0 && endsClosed(text)) throw unclear(inside[0] as number)
  return unclosed(state, start + 1, isKey || inside.length > 0)
}

const isApostrophe = (text: string, at: number): boolean =>
  /['’]/.test(text[at] as string) && WORD.test(text[at - 1] as string) && WORD.test(text[at + 1] ?? '')

/** Accepts quotes that do not end the string. Pairs, as in prose and markup, and quotes that cannot be delimiters are evidence of that. */
function acceptInside(state: State, inside: readonly number[], end: number): void {
  const { text, position: start } = state
  const inList = state.open.at(-1) !== '}'
  let paired = inside.length % 2 === 0
  /** No later quote is where a delimiter would be. */
  let plain = !text.includes(text[end] as string, end + 1)
  let afterComma = false
  let inWord = false
  inside.forEach((at, index) => {
    const since = text.slice(inside[index - 1] ?? start + 1, at)
    const before = since.at(-1) ?? ''
    const left = since.trimEnd().at(-1) ?? ''
    const after = text[at + 1] as string
    const right = text[matchEnd(SPACE, text, at + 1)] ?? ''
    if (index % 2 === 0) {
      if (WORD.test(before) && !WORD.test(after)) paired = false
      afterComma = left === ','
    } else if (
      (/^$|[\s([{=,:]/.test(before) && WORD.test(after)) ||
      (afterComma && right === ':') ||
      !isBetweenQuotes(since.slice(1), inList)
    )
      paired = false
    if (/^$|[,:{[]/.test(left) || /^$|[,:}\]]/.test(right) || (!WORD.test(before) && /\S/.test(after)) || !/[\s\p{L}\p{N}_]/u.test(after))
      plain = false
    inWord = LETTER.test(before) && LETTER.test(after)
  })
  if (!paired && !plain && !(inside.length === 1 && inWord)) throw unclear(inside[0] as number, !endsClosed(text))
  state.quotesGuessed++
  fix(state, 'an unescaped quote', inside[0] as number, true)
}

/**
 * Returns whether `between` is text between two quotes inside one string, such as words or a separator, rather than between two
 * strings.
 */
function isBetweenQuotes(between: string, inList: boolean): boolean {
  if (between.includes('\n') || (inList && !WORD.test(between))) return false
  return !/^[\s,:}\]]/.test(between) || (!inList && /^(?:[,:;] ?| |[}\]])$/.test(between))
}

const endsClosed = (text: string): boolean => /[}\])`]$/.test(text.slice(-200).trimEnd())

/** Returns whether the following text could come after a string value. */
function fits(state: State, from: number, quote: string): boolean {
  const { text, open } = state
  const matches = (pattern: RegExp): boolean => matchEnd(pattern, text, at) >= 0
  let depth = open.length
  let at = ahead(state, from, quote)
  let comma = false
  for (;;) {
    if (at >= text.length) return true
    if (depth === 0) return endsHere(state, at, quote)
    const char = text[at] as string
    if (isCloser(char)) {
      const match = open.lastIndexOf(char, depth - 1)
      depth = match < 0 ? depth - 1 : match
      comma = false
    } else if (char === ',' && !comma) comma = true
    else break
    at = comma ? peek(state, at + 1) : ahead(state, at + 1, quote)
  }
  if (at === from) return false
  if (open[depth - 1] !== '}') return matches(!comma && isQuote(text[at]) ? QUOTED_ITEM_AHEAD : ITEM_AHEAD)
  return matches(KEY_AHEAD) || ((comma || text.slice(from, at).includes('\n')) && matches(BARE_KEY_AHEAD))
}

/** Skips white space and comments, except comments that may be part of the same string. */
function ahead(state: State, from: number, quote: string): number {
  const at = peek(state, from)
  if (state.text.slice(from, at).includes(quote)) throw unclear(from)
  return at
}

function endsHere(state: State, at: number, quote: string): boolean {
  const { text } = state
  const end = ahead(state, matchEnd(TAIL, text, at), quote)
  return (
    end >= text.length ||
    text.startsWith('```', end) ||
    (/[\r\n]/.test(text.slice(Math.max(0, end - 20), end)) && WORD.test(text[end] as string))
  )
}

/** Handles a string without a closing quote. The quote may be missing right before the last brackets; otherwise the string was cut off. */
function unclosed(state: State, start: number, mustClose: boolean): string {
  const { text } = state
  const closers = state.open.toReversed().join('')
  const rest = text.slice(start, start + 400).trimEnd()
  const value = rest.slice(0, rest.length - closers.length)
  const isPlain = /^[\p{L}\p{N}_ ./@-]*[\p{L}\p{N}_.]$/u.test(value)
  if (mustClose || state.strict || text.length >= start + 400 || !rest.endsWith(closers) || !isPlain) throw cutOff(state)
  state.position = start + value.length
  restructure(state, 'a missing quote', state.position, true)
  return value
}

/** Escapes that JSON supports, without the backslash. */
const KNOWN = /^(["\\/bfnrt]|u....)$/
/** Escapes of other languages. A model may mean that character or the two characters it wrote. */
const FOREIGN = /[\n\r'$`uUx0-9vae]/
const ESCAPE = /\\(u[\da-fA-F]{4}|.?)/gs

function decode(state: State, from: number, to: number, close: string): string {
  const raw = state.text.slice(from, to)
  const control = raw.search(/[\u0000-\u001f]/)
  if (control >= 0) fix(state, `a raw ${/[\n\r]/.test(raw) ? 'line break' : 'control character'} in a string`, from + control)
  let invalid = -1
  let changesText = false
  for (const { index, 1: said = '' } of raw.matchAll(ESCAPE)) {
    if (said === close) continue
    const isKnown = KNOWN.test(said)
    if (!isKnown && invalid < 0) invalid = index
    if (isKnown ? !'"\\/'.includes(said) : FOREIGN.test(said)) changesText = true
  }
  if (invalid >= 0 && /^(?:[A-Za-z]:\\|\\\\)/.test(raw)) {
    if (raw.includes(`\\${close}`)) throw unclear(from)
    fix(state, 'an unescaped backslash', from + invalid, true)
    return raw.replaceAll(/(^\\\\)|\\\\/g, (_, network?: string) => network ?? '\\')
  }
  if (invalid >= 0) fix(state, 'an unescaped backslash', from + invalid, changesText)
  return raw.replaceAll(ESCAPE, (whole, said: string) => {
    if (said === close || said === "'") return said
    // A string with escapes unknown to JSON is a pattern, so `\b` and `\f` are not a backspace and a form feed.
    return KNOWN.test(said) && !(invalid >= 0 && /^[bf]/.test(said)) ? JSON.parse(`"${whole}"`) : whole
  })
}
