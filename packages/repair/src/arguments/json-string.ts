/** Strings, for the tolerant JSON reader: where one ends when quotes inside are not escaped, and what it says. */
import { CLOSER, type Container, cutOff, fix, matchEnd, peek, restructure, type State, Stop } from './json-state.ts'

/** What closes a string, by what opened it. */
export const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '”': '”', '‘': '’', '’': '’' }

/** More than a long file has; no text should make the reader weigh a million of them. */
const MAX_INSIDE = 20_000
const WORD = /[\p{L}\p{N}_]/u
const LETTER = /\p{L}/u
const KEY_AHEAD =
  /(?:"(?:[^"\\]|\\.){0,200}(?:"\s*(?::|$)|$)|'(?:[^'\\]|\\.){0,200}(?:'\s*(?::|$)|$)|[“”‘’][^“”‘’]{0,200}(?:[”’]\s*(?::|$)|$)|"[\w.-]{1,100}"\s+(?:["{[]|-?\d|true|false|null))/sy
const BARE_KEY_AHEAD = /[A-Za-z_$][\w$.-]{0,100}\s*(?::|$)/y
const ITEM_AHEAD = /["'“”‘’{[]|(?:-?\d[\d.eE+-]{0,30}|true|false|null|True|False|None)\s*(?:[,\]})]|$)/y
const QUOTED_ITEM_AHEAD =
  /(?:"(?:[^"\\]|\\.){0,200}"|'(?:[^'\\]|\\.){0,200}'|[“”][^“”]{0,200}”)\s*(?:[,\]})"'“”{[]|$)|-?\d|true|false|null/sy
/** What may stand behind the value and mean nothing. */
export const TAIL = /(?:[\s,;)\]}]|\[\s*\]|\{\s*\})*/y

/** Reads the string whose quote is at the position, and goes behind it. */
export function readString(state: State, isKey: boolean): string {
  const { text } = state
  const start = state.position
  const quote = text[start] as string
  const close = QUOTES[quote] as string
  if (quote !== '"') fix(state, quote === "'" ? 'single quotes' : 'typographic quotes', start)
  const inside = new Inside(text, start, state.open[state.open.length - 1] !== '{')
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === close && isApostrophe(text, at, close)) {
      fix(state, 'an unescaped apostrophe', at)
      state.apostrophes = true
    } else if (char === close) {
      if (isKey || state.strict || fits(state, at + 1, close)) {
        if (inside.count > 0) acceptInside(state, inside, at, close)
        state.position = at + 1
        return decode(state, start + 1, at, close)
      }
      inside.add(at)
      if (inside.count > MAX_INSIDE) throw new Stop('too many quotes inside a string', inside.first)
    }
  }
  if (inside.count > 0 && endsClosed(text)) throw new Stop('a quote inside a string is not escaped, or a quote is missing', inside.first)
  return unclosed(state, start, isKey || inside.count > 0)
}

function isApostrophe(text: string, at: number, close: string): boolean {
  return close !== '"' && close !== '”' && WORD.test(text[at - 1] ?? '') && WORD.test(text[at + 1] ?? '')
}

/** The quotes that were found not to end the string: whether they are pairs, as in prose and markup, tells if that is so. */
class Inside {
  readonly text: string
  readonly inList: boolean
  readonly start: number
  count = 0
  first = 0
  paired = true
  /** None is where a quote that delimits a string would be. */
  plain = true
  opens = false
  /** The last one has letters on both sides. */
  inWord = false
  private afterComma = false
  private opened = 0

  constructor(text: string, start: number, inList: boolean) {
    this.text = text
    this.inList = inList
    this.start = start
  }

  add(at: number): void {
    const { text, start } = this
    const before = at - 1 === start ? '' : (text[at - 1] ?? '')
    const after = text[at + 1] ?? ''
    let back = at - 1
    while (back > start && /\s/.test(text[back] as string)) back--
    const left = back === start ? '' : (text[back] as string)
    const right = text[matchEnd(/\s*/y, text, at + 1)] ?? ''
    if (this.count % 2 === 0) {
      if (WORD.test(before) && !WORD.test(after)) this.paired = false
      this.afterComma = left === ','
      this.opened = at
    } else {
      if ((before === '' || /[\s([{=,:]/.test(before)) && WORD.test(after)) this.paired = false
      if (this.afterComma && right === ':') this.paired = false
      if (!this.isPair(text.slice(this.opened + 1, at))) this.paired = false
    }
    if (',:{['.includes(left) || ',:}]'.includes(right)) this.plain = false
    if (!WORD.test(before) && /\S/.test(after)) this.opens = true
    this.inWord = LETTER.test(before) && LETTER.test(after)
    if (this.count === 0) this.first = at
    this.count++
  }

  /** Between two quotes of one text stand words or a separator; what stands between two texts looks otherwise. */
  private isPair(between: string): boolean {
    if (between.includes('\n') || (this.inList && !WORD.test(between))) return false
    return !/^[\s,:}\]]/.test(between) || (!this.inList && /^(?:[,:;] ?| |[}\]])$/.test(between))
  }
}

function acceptInside(state: State, inside: Inside, end: number, close: string): void {
  const pairs = inside.count % 2 === 0 && inside.paired
  const last = inside.plain && !inside.opens && !state.text.includes(close, end + 1)
  const alone = last || (inside.count === 1 && inside.inWord)
  if (!pairs && !alone)
    throw new Stop('a quote inside a string is not escaped, and where the string ends is unclear', inside.first, !endsClosed(state.text))
  state.quotesGuessed++
  fix(state, 'an unescaped quote', inside.first, true)
}

const endsClosed = (text: string): boolean => /[}\])`]$/.test(text.slice(-200).trimEnd())

/** Whether what follows could follow the end of a string value. */
function fits(state: State, from: number, quote: string): boolean {
  const { text } = state
  let depth = state.open.length
  let at = ahead(state, from, quote)
  let comma = false
  for (;;) {
    if (at >= text.length) return true
    if (depth === 0) return state.partial || endsHere(state, at, quote)
    const char = text[at] as string
    if (char === '}' || char === ']' || char === ')') {
      const match = lastOpen(state.open, depth, char)
      depth = match < 0 ? depth - 1 : match
      comma = false
    } else if (char === ',' && !comma) comma = true
    else break
    at = comma ? peek(state, at + 1) : ahead(state, at + 1, quote)
  }
  const isList = state.open[depth - 1] !== '{'
  if (comma) return (isList ? [ITEM_AHEAD] : [KEY_AHEAD, BARE_KEY_AHEAD]).some((pattern) => matchEnd(pattern, text, at) >= 0)
  const isNextLine = text.slice(from, at).includes('\n')
  if (at === from) return false
  if (!isList) return matchEnd(KEY_AHEAD, text, at) >= 0 || (isNextLine && matchEnd(BARE_KEY_AHEAD, text, at) >= 0)
  return matchEnd(Object.hasOwn(QUOTES, text[at] as string) ? QUOTED_ITEM_AHEAD : ITEM_AHEAD, text, at) >= 0
}

/** Past white space and comments, but not past a comment that may be text of the same string. */
function ahead(state: State, from: number, quote: string): number {
  const at = peek(state, from)
  if (state.text.slice(from, at).includes(quote)) throw new Stop('whether a comment begins here is unclear', from)
  return at
}

function endsHere(state: State, at: number, quote: string): boolean {
  const { text } = state
  const end = ahead(state, matchEnd(TAIL, text, at), quote)
  return (
    end >= text.length ||
    text.startsWith('```', end) ||
    (/[\r\n]/.test(text.slice(Math.max(0, end - 20), end)) && WORD.test(text[end] ?? ''))
  )
}

/** Which of the open containers a closer closes; -1 for none. */
export function lastOpen(open: readonly Container[], depth: number, closer: string): number {
  for (let at = depth - 1; at >= 0; at--) if (CLOSER[open[at] as Container] === closer) return at
  return -1
}

/** A quote that is missing right before the last brackets; anything else that has no end was cut off. */
function unclosed(state: State, start: number, mustClose: boolean): string {
  const { text, open } = state
  const closers = open
    .map((one) => CLOSER[one])
    .reverse()
    .join('')
  const rest = text.slice(start + 1, start + 400).trimEnd()
  const value = rest.slice(0, rest.length - closers.length)
  const isPlain = /^[\p{L}\p{N}_ ./@-]*[\p{L}\p{N}_.]$/u.test(value)
  if (mustClose || state.strict || state.partial || text.length > start + 400 || !rest.endsWith(closers) || !isPlain) throw cutOff(state)
  restructure(state, 'a missing quote', start + 1 + value.length, true)
  state.position = start + 1 + value.length
  return value
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
/** Escapes of other languages: a model that writes one may mean that character, or the two it wrote. */
const FOREIGN = /[\n\r'$`uUx0-9vae]/
const HEX = /u[0-9a-fA-F]{4}/y
const PYTHON_HEX = /x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}/y

function decode(state: State, from: number, to: number, close: string): string {
  const raw = state.text.slice(from, to)
  const control = raw.search(/[\u0000-\u001f]/)
  if (control >= 0) fix(state, /[\n\r]/.test(raw) ? 'a raw line break in a string' : 'a raw control character in a string', from + control)
  if (!raw.includes('\\')) return raw
  const { invalid, foreign, valid } = escapesIn(raw, close, state.pythonic)
  if (invalid >= 0 && /^(?:[A-Za-z]:\\|\\\\)/.test(raw)) {
    if (raw.includes(`\\${close}`)) throw new Stop('a path with quotes in it', from)
    fix(state, 'an unescaped backslash', from + invalid, true)
    return raw[0] === '\\' ? `\\\\${raw.slice(2).replaceAll('\\\\', '\\')}` : raw.replaceAll('\\\\', '\\')
  }
  if (invalid >= 0) fix(state, 'an unescaped backslash', from + invalid, foreign || valid)
  return unescaped(raw, close, state.pythonic, invalid >= 0)
}

interface Escapes {
  /** Where the first is that JSON does not have; -1 for none. */
  readonly invalid: number
  readonly foreign: boolean
  readonly valid: boolean
}

function escapesIn(raw: string, close: string, pythonic: boolean): Escapes {
  let invalid = -1
  let foreign = false
  let valid = false
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', at + 2)) {
    const char = raw[at + 1] ?? ''
    if (char === close || (pythonic && (char === "'" || matchEnd(PYTHON_HEX, raw, at + 1) > 0))) continue
    if (Object.hasOwn(ESCAPES, char) || matchEnd(HEX, raw, at + 1) > 0) {
      if (!'"\\/'.includes(char)) valid = true
      continue
    }
    if (invalid < 0) invalid = at
    if (FOREIGN.test(char)) foreign = true
  }
  return { invalid, foreign, valid }
}

/** @param regex there are escapes that JSON lacks: `\b` and `\f` are then theirs, not a backspace or a form feed */
function unescaped(raw: string, close: string, pythonic: boolean, regex: boolean): string {
  const parts: string[] = []
  let from = 0
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', from)) {
    parts.push(raw.slice(from, at))
    const char = raw[at + 1] ?? ''
    const hex = Math.max(matchEnd(HEX, raw, at + 1), pythonic ? matchEnd(PYTHON_HEX, raw, at + 1) : -1)
    const code = hex > 0 ? Number.parseInt(raw.slice(at + 2, hex), 16) : -1
    from = hex > 0 ? hex : at + 2
    if (code >= 0 && code <= 0x10ffff) parts.push(hex - at === 6 ? String.fromCharCode(code) : String.fromCodePoint(code))
    else if (char === close || char === "'") parts.push(char)
    else if (Object.hasOwn(ESCAPES, char) && !(regex && 'bf'.includes(char))) parts.push(ESCAPES[char] as string)
    else parts.push(raw.slice(at, from))
  }
  parts.push(raw.slice(from))
  return parts.join('')
}
