/** Objects, lists and scalars, for the tolerant JSON reader. */
import { CLOSER, type Container, cutOff, fix, matchEnd, peek, restructure, type State, Stop, skip } from './json-state.ts'
import { lastOpen, QUOTES, readString } from './json-string.ts'

const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]})]|\/\*|$)/y
const OTHER_NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?=[\s,\]})]|\/\*|$)/y
const CONSTANT = /(?:true|false|null|True|False|None)(?=[\s,\]})]|\/\*|$)/y
const CONSTANTS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null, True: true, False: false, None: null }
const BARE_KEY = /[A-Za-z_$][\w$.-]*|\d+/y
/** A word, and the next key right after it: only a comma is missing. */
const WORD_BEFORE_KEY = /[\w.$-]{1,100}(?=\s+"[\w.$-]{1,100}"\s*:)/y
const BARE = /[^,{}[\]\n\r]{1,1000}/y
/** Bare words that a reader could take for something else than text. */
const NOT_TEXT =
  /^(?:true|false|null|none|nan|[+-]?inf(?:inity)?|undefined|nil)$|^(?:\.\.|…)|["'`“”‘’\\()<>;]|^\S*\s[^:]*:|:$|.\/\*|^[+-]?[\d.].*\s/i
/** What begins an item that no comma comes before. */
const PLAIN_ITEM = /["'“”{[]|-?\d|true|false|null/y
/** How texts begin and end, other than what stands between two quotes of one text. */
const EDGES = /^(?=.*[\p{L}\p{N}_])["\p{L}\p{N}_<({[/$.-](?:.*["\p{L}\p{N}_>)}\].!?;\\])?$/su
const PLAIN_KEY = /^[\w.$-]+$/

export function readValue(state: State): unknown {
  const char = state.text[state.position]
  if (char === undefined) throw cutOff(state)
  if (char === '{') return readObject(state)
  if (char === '[' || (char === '(' && state.pythonic)) return readList(state)
  return Object.hasOwn(QUOTES, char) ? readString(state, false) : readScalar(state)
}

function open(state: State): Container {
  if (state.open.length >= MAX_DEPTH) throw new Stop('nested too deep to be read', state.position)
  const container = state.text[state.position] as Container
  if (container === '(') fix(state, 'a Python tuple', state.position)
  state.open.push(container)
  state.position++
  return container
}

function readObject(state: State): Record<string, unknown> {
  open(state)
  const object: Record<string, unknown> = {}
  let after: 'nothing' | 'comma' | 'member' = 'nothing'
  for (;;) {
    const end = state.position
    skip(state)
    const at = state.position
    const char = state.text[at]
    if (char === undefined) throw cutOff(state)
    if (isCloser(char)) {
      close(state, after === 'comma')
      return object
    }
    if (char === ',') {
      if (after !== 'member') throw new Stop('a comma where a key belongs', at)
      after = 'comma'
      state.position++
      continue
    }
    const quoted = Object.hasOwn(QUOTES, char)
    if (after === 'member') {
      if (!quoted && !state.text.slice(end, at).includes('\n')) throw new Stop('a comma or the end of the object belongs here', at)
      restructure(state, 'a missing comma', end)
    }
    const key = readKey(state, quoted)
    const value = readMember(state, key, quoted)
    if (Object.hasOwn(object, key)) {
      if (!same(object[key], value)) throw new Stop(`${JSON.stringify(key.slice(0, 80))} is there twice, with different values`, at)
    } else if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    else object[key] = value
    after = 'member'
  }
}

function readKey(state: State, quoted: boolean): string {
  if (quoted) return readString(state, true)
  const from = state.position
  const end = matchEnd(BARE_KEY, state.text, from)
  if (end < 0) throw new Stop('a key belongs here', from)
  if (end === state.text.length) throw cutOff(state)
  fix(state, 'an unquoted key', from)
  state.position = end
  return state.text.slice(from, end)
}

function readMember(state: State, key: string, quoted: boolean): unknown {
  skip(state)
  const { text, position } = state
  if (position >= text.length) throw cutOff(state)
  if (text[position] === ':') {
    state.position++
    skip(state)
    return readValue(state)
  }
  if (!quoted || !PLAIN_KEY.test(key) || matchEnd(PLAIN_ITEM, text, position) < 0) throw new Stop('a colon belongs here', position)
  restructure(state, 'a missing colon', position)
  const value = readValue(state)
  const next = peek(state, state.position)
  if (state.bareEnd === state.position || (next < text.length && !/[,\]}]/.test(text[next] as string)))
    throw new Stop('a colon belongs here', position)
  return value
}

function readList(state: State): readonly unknown[] {
  open(state)
  const list: unknown[] = []
  let after: 'nothing' | 'comma' | 'item' = 'nothing'
  let guessed = false
  let hasQuotes = false
  for (;;) {
    const end = state.position
    skip(state)
    const char = state.text[state.position]
    if (char === undefined) throw cutOff(state)
    if (isCloser(char)) {
      checkEdges(state, list, guessed, hasQuotes)
      close(state, after === 'comma')
      return list
    }
    if (char === ',') {
      if (after !== 'item') throw new Stop('a comma where an item belongs', state.position)
      after = 'comma'
      state.position++
      continue
    }
    if (after === 'item') {
      if (matchEnd(PLAIN_ITEM, state.text, state.position) < 0 || state.bareEnd === end)
        throw new Stop('a comma or the end of the list belongs here', state.position)
      restructure(state, 'a missing comma', end)
      guessed = true
    }
    const quotes = state.quotesGuessed
    const item = readValue(state)
    list.push(item)
    if (typeof item === 'string' && state.quotesGuessed > quotes) hasQuotes = true
    if (after === 'item' && state.bareEnd === state.position) throw new Stop('a comma or the end of the list belongs here', end)
    after = 'item'
  }
}

/** Two texts of a list, or one with `", "` in it: no key tells, so that what looks like either is refused. */
function checkEdges(state: State, list: readonly unknown[], guessed: boolean, hasQuotes: boolean): void {
  if (state.strict) return
  const texts = list.filter((item): item is string => typeof item === 'string')
  if (texts.length < 2) return
  state.textsInList = true
  if (!hasQuotes && texts.every((text) => EDGES.test(text))) return
  if (guessed || hasQuotes) throw new Stop('where the texts of a list begin and end is unclear', state.position)
  state.edgesUnclear = true
}

const isCloser = (char: string): boolean => char === '}' || char === ']' || char === ')'

/** Closes the innermost container: with its bracket, before the bracket of the one around it, or with a wrong one at the very end. */
function close(state: State, comma: boolean): void {
  const { text, position, open } = state
  const closer = text[position] as string
  const expected = CLOSER[open[open.length - 1] as Container]
  const match = lastOpen(open, open.length, closer)
  if (comma && match !== open.length - 1) throw new Stop(`${closer} does not belong here`, position)
  if (comma && open[open.length - 1] !== '(') fix(state, 'a trailing comma', position)
  if (match === open.length - 1) state.position++
  else if (match < 0) {
    if (!onlyClosersFollow(state)) throw new Stop(`${expected} belongs here, not ${closer}`, position)
    restructure(state, 'a wrong bracket', position)
    state.position++
  } else {
    if (match !== open.length - 2 || state.missing >= 0 || lastBefore(text, position) === expected)
      throw new Stop(`where ${expected} is missing is unclear`, position)
    restructure(state, 'a missing bracket', position)
    state.missing = position
  }
  open.pop()
}

/** Exactly one bracket for each that is open: one more, and an opening bracket may be what is missing. */
function onlyClosersFollow(state: State): boolean {
  if (state.partial || state.strict) return false
  if (!state.closing) {
    const end = matchEnd(/[\s)\]}]*/y, state.text, state.position)
    const count = state.text.slice(state.position, end).replaceAll(/\s/g, '').length
    state.closing = count === state.open.length && (end >= state.text.length || state.text.startsWith('```', end))
  }
  return state.closing
}

function lastBefore(text: string, position: number): string | undefined {
  let at = position - 1
  while (at > 0 && /\s/.test(text[at] as string)) at--
  return text[at]
}

function readScalar(state: State): unknown {
  const { text, position } = state
  const number = matchEnd(NUMBER, text, position)
  if (number >= 0) return advance(state, number, Number(text.slice(position, number)))
  const constant = matchEnd(CONSTANT, text, position)
  if (constant >= 0) {
    const name = text.slice(position, constant)
    if (/^[TFN]/.test(name)) fix(state, 'a Python constant', position)
    return advance(state, constant, CONSTANTS[name])
  }
  const other = matchEnd(OTHER_NUMBER, text, position)
  return other >= 0 ? readOtherNumber(state, other) : readBare(state)
}

/** What begins with a zero or a plus may be a code or a telephone number: its characters stay. A schema can still make it a number. */
function readOtherNumber(state: State, end: number): unknown {
  const { text, position } = state
  const digits = text.slice(position, end)
  const isCode = /^[+-]?0\d|^\+\d{5}/.test(digits)
  if (isCode && state.open[state.open.length - 1] !== '{') throw new Stop('a number that JSON does not have', position)
  fix(state, isCode ? 'an unquoted text' : 'a number that JSON does not have', position, isCode || digits[0] === '+')
  if (isCode) state.bareEnd = end
  return advance(state, end, isCode ? digits : Number(digits))
}

function readBare(state: State): string {
  const { text, position } = state
  const word = state.open[state.open.length - 1] === '{' ? matchEnd(WORD_BEFORE_KEY, text, position) : -1
  const limit = word >= 0 ? word : matchEnd(BARE, text, position)
  if (limit < 0) throw new Stop('a value belongs here', position)
  // Another one after it, and the text may go on in quotes.
  if (state.wordBeforeKey) throw new Stop('where a text without quotes ends is unclear', position)
  state.wordBeforeKey = word >= 0
  const bare = text
    .slice(position, limit)
    .replace(/\s(?:\/\/|\/\*|#).*$/, '')
    .trimEnd()
  if (NOT_TEXT.test(bare)) throw new Stop('this is not a value', position)
  if (limit === text.length) throw cutOff(state)
  if (limit - position === 1000) throw new Stop('a text without quotes', position)
  restructure(state, 'an unquoted text', position, true)
  state.bareEnd = position + bare.length
  return advance(state, state.bareEnd, bare)
}

function advance<T>(state: State, to: number, value: T): T {
  state.position = to
  return value
}

/** Stops at the first difference, so that its cost is that of the smaller of the two. */
function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && same(a[key as keyof typeof a], b[key as keyof typeof b]))
}
