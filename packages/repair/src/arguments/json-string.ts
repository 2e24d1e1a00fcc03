/** Strings, for the tolerant JSON reader: where one ends when quotes inside are not escaped, and what it says. */
import { cutOff, fix, matchEnd, peek, restructure, SPACE, type State, unclear } from './json-state.ts'

/** What closes a string, by what opened it. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '”': '”', '‘': '’', '’': '’' }

export const isQuote = (char: string | undefined): boolean => char !== undefined && Object.hasOwn(QUOTES, char)
export const isCloser = (char: string): boolean => '}])'.includes(char)

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
/** What may be behind the value and mean nothing. */
export const TAIL = /(?:[\s,;)\]}]|\[\s*\]|\{\s*\})*/y

/** Reads the string whose quote is at the position, and goes behind it. */
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

/** Quotes that were found not to end the string: pairs, as in prose and markup, or ones that look like no delimiter tell that it is so. */
function acceptInside(state: State, inside: readonly number[], end: number): void {
  const { text, position: start } = state
  const inList = state.open.at(-1) !== '}'
  let paired = inside.length % 2 === 0
  /** None is where a quote that delimits a string would be. */
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

/** Between two quotes of one text stand words or a separator; what is between two texts looks otherwise. */
function isBetweenQuotes(between: string, inList: boolean): boolean {
  if (between.includes('\n') || (inList && !WORD.test(between))) return false
  return !/^[\s,:}\]]/.test(between) || (!inList && /^(?:[,:;] ?| |[}\]])$/.test(between))
}

const endsClosed = (text: string): boolean => /[}\])`]$/.test(text.slice(-200).trimEnd())

/** Whether what follows could follow the end of a string value. */
function fits(state: State, from: number, quote: string): boolean {
  const { text, open } = state
  const matches = (pattern: RegExp): boolean => matchEnd(pattern, text, at) >= 0
  let depth = open.length
  let at = ahead(state, from, quote)
  let comma = false
  for (;;) {
    if (at >= text.length) return true
    if (depth === 0) return state.partial || endsHere(state, at, quote)
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

/** Past white space and comments, but not past a comment that may be text of the same string. */
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

/** A quote that is missing right before the last brackets; anything else that has no end was cut off. */
function unclosed(state: State, start: number, mustClose: boolean): string {
  const { text } = state
  const closers = state.open.toReversed().join('')
  const rest = text.slice(start, start + 400).trimEnd()
  const value = rest.slice(0, rest.length - closers.length)
  const isPlain = /^[\p{L}\p{N}_ ./@-]*[\p{L}\p{N}_.]$/u.test(value)
  if (mustClose || state.strict || state.partial || text.length >= start + 400 || !rest.endsWith(closers) || !isPlain) throw cutOff(state)
  state.position = start + value.length
  restructure(state, 'a missing quote', state.position, true)
  return value
}

/** What JSON knows behind a backslash. */
const KNOWN = /^(["\\/bfnrt]|u....)$/
/** Escapes of other languages: a model that writes one may mean that character, or the two it wrote. */
const FOREIGN = /[\n\r'$`uUx0-9vae]/
const ESCAPE = /\\(u[\da-fA-F]{4}|.?)/gs
const PYTHON_ESCAPE = /\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|.?)/gs

function decode(state: State, from: number, to: number, close: string): string {
  const { pythonic } = state
  const raw = state.text.slice(from, to)
  const control = raw.search(/[\u0000-\u001f]/)
  if (control >= 0) fix(state, `a raw ${/[\n\r]/.test(raw) ? 'line break' : 'control character'} in a string`, from + control)
  const pattern = pythonic ? PYTHON_ESCAPE : ESCAPE
  let invalid = -1
  let changesText = false
  for (const { index, 1: said = '' } of raw.matchAll(pattern)) {
    if (said === close || (pythonic && (said === "'" || /^[xU]./.test(said)))) continue
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
  return raw.replaceAll(pattern, (whole, said: string) => {
    if (said === close || said === "'") return said
    if (/^[xU]./.test(said)) return String.fromCodePoint(Number.parseInt(said.slice(1), 16))
    // Where there are escapes that JSON lacks, it is a pattern: `\b` and `\f` are then no backspace and no form feed.
    return KNOWN.test(said) && !(invalid >= 0 && /^[bf]/.test(said)) ? JSON.parse(`"${whole}"`) : whole
  })
}
