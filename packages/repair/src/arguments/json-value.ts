/** Reads objects, lists and scalars for the tolerant JSON reader. */
import { equal } from '../canonical.ts'
import { matchEnd } from '../text.ts'
import { cutOff, fix, misplaced, peek, restructure, type State, Stop, skip, unclear } from './json-state.ts'
import { isCloser, isQuote, readString } from './json-string.ts'

const MAX_DEPTH = 200
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?=[\s,\]})]|\/\*|$)/y
const CONSTANT = /(?:true|false|null|True|False|None)(?=[\s,\]})]|\/\*|$)/y
const BARE_KEY = /[A-Za-z_$][\w$.-]*|\d+/y
/** A word directly followed by the next key, with only the comma missing. */
const WORD_BEFORE_KEY = /[\w.$-]{1,100}(?=\s+"[\w.$-]{1,100}"\s*:)/y
const BARE = /[^,{}[\]\n\r]{1,1000}/y
/** Bare words that may not be meant as text. */
const NOT_TEXT =
  /^(?:true|false|null|none|nan|[+-]?inf(?:inity)?|undefined|nil)$|^(?:\.\.|…)|["'`“”‘’\\()<>;]|^\S*\s[^:]*:|:$|.\/\*|^[+-]?[\d.].*\s/i
/** Truncated numbers or numbers in another language's notation: neither clearly a number nor clearly text. */
const NO_NUMBER = /^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)e[+-]?$|^[+-]?0(?:x[\da-f_]*|[ob]\d*)$|^[+-]?\d[\d_]*_[\d_]*(?:\.\d*)?$|^[+-]?\d+n$/i
/** The start of an item that has no comma before it. */
const PLAIN_ITEM = /["'“”{[]|-?\d|true|false|null/y
/** Usual beginnings and endings of strings, unlike the text between two quotes inside one string. */
const hasEdges = (text: string): boolean => /^(?=.*[\p{L}\p{N}_])["\p{L}\p{N}_<({[/$.-](?:.*["\p{L}\p{N}_>)}\].!?;\\])?$/su.test(text)
const PLAIN_KEY = /^[\w.$-]+$/

export function readValue(state: State): unknown {
  const char = state.text[state.position]
  if (char === undefined) throw cutOff(state)
  if (char === '{') return readObject(state)
  if (char === '[') return readList(state)
  return isQuote(char) ? readString(state) : readScalar(state)
}

const inObject = ({ open }: State): boolean => open.at(-1) === '}'

/**
 * Reads the parts between two brackets and the commas between them.
 * @param follows returns whether the text here clearly begins another part although no comma came before
 */
function readParts(state: State, closer: string, follows: (end: number) => boolean, read: (noComma: boolean, end: number) => void) {
  if (state.open.length >= MAX_DEPTH) throw new Stop('nested too deep to be read', state.position)
  state.open.push(closer)
  state.position++
  let after: 'nothing' | 'comma' | 'part' = 'nothing'
  for (;;) {
    const end = state.position
    skip(state)
    const char = state.text[state.position]
    if (char === undefined) throw cutOff(state)
    if (isCloser(char)) break
    if (char === ',') {
      if (after !== 'part') throw misplaced(state.position)
      after = 'comma'
      state.position++
      continue
    }
    const noComma = after === 'part'
    if (noComma) {
      if (!follows(end)) throw misplaced(state.position)
      restructure(state, 'a missing comma', end)
    }
    read(noComma, end)
    after = 'part'
  }
  close(state, after === 'comma')
}

function readObject(state: State): unknown {
  const members = new Map<string, unknown>()
  const mayFollow = (end: number): boolean => isQuote(state.text[state.position]) || state.text.slice(end, state.position).includes('\n')
  readParts(state, '}', mayFollow, () => {
    const at = state.position
    const quoted = isQuote(state.text[at])
    const key = quoted ? readString(state, true) : readBareKey(state)
    const value = readMember(state, quoted && PLAIN_KEY.test(key))
    if (members.has(key) && !equal(members.get(key), value))
      throw new Stop(`${JSON.stringify(key.slice(0, 80))} is there twice, with different values`, at)
    members.set(key, value)
  })
  return Object.fromEntries(members)
}

function readBareKey(state: State): string {
  const { text, position } = state
  const end = matchEnd(BARE_KEY, text, position)
  if (end < 0) throw misplaced(position)
  if (end === text.length) throw cutOff(state)
  fix(state, 'an unquoted key', position)
  state.position = end
  return text.slice(position, end)
}

function readMember(state: State, mayLackColon: boolean): unknown {
  skip(state)
  const { text, position } = state
  if (position >= text.length) throw cutOff(state)
  if (text[position] === ':') {
    state.position++
    skip(state)
    return readValue(state)
  }
  const isMissing = misplaced(position)
  if (!mayLackColon || matchEnd(PLAIN_ITEM, text, position) < 0) throw isMissing
  restructure(state, 'a missing colon', position)
  const value = readValue(state)
  if (state.bareEnd === state.position || !/^$|[,\]}]/.test(text[peek(state, state.position)] ?? '')) throw isMissing
  return value
}

function readList(state: State): readonly unknown[] {
  const list: unknown[] = []
  let guessed = false
  let hasQuotes = false
  // Two words or numbers on one line may be one unquoted string.
  const areWords = (end: number): boolean => [state.text[end - 1], state.text[state.position]].every((one) => /[\w.-]/.test(one ?? ''))
  const mayFollow = (end: number): boolean =>
    matchEnd(PLAIN_ITEM, state.text, state.position) >= 0 &&
    state.bareEnd !== end &&
    (!areWords(end) || state.text.slice(end, state.position).includes('\n'))
  readParts(state, ']', mayFollow, (noComma, end) => {
    const quotes = state.quotesGuessed
    const item = readValue(state)
    list.push(item)
    if (typeof item === 'string' && state.quotesGuessed > quotes) hasQuotes = true
    if (!noComma) return
    guessed = true
    if (state.bareEnd === state.position) throw misplaced(end)
  })
  if (!state.strict) checkEdges(state, list, guessed, hasQuotes)
  return list
}

/** Rejects lists in which two strings may be one, or one that contains `", "` may be two. Lists have no keys to tell these apart. */
function checkEdges(state: State, list: readonly unknown[], guessed: boolean, hasQuotes: boolean): void {
  const texts = list.filter((item) => typeof item === 'string')
  if (texts.length < 2) return
  state.textsInList = true
  if (!hasQuotes && texts.every(hasEdges)) return
  if (guessed || hasQuotes) throw unclear(state.position)
  state.edgesUnclear = true
}

/** Closes the innermost container: at its own bracket, at the bracket of the enclosing container, or at a wrong one at the very end. */
function close(state: State, comma: boolean): void {
  const { text, position, open } = state
  const closer = text[position] as string
  const expected = open.at(-1) as string
  const outer = open.length - 1 - open.lastIndexOf(closer)
  if (comma && closer !== expected) throw misplaced(position)
  if (comma) fix(state, 'a trailing comma', position)
  state.position++
  if (outer > open.length - 1) {
    if (!onlyClosersFollow(state, position)) throw misplaced(position)
    restructure(state, 'a wrong bracket', position)
  } else if (outer > 0) {
    if (outer > 1 || state.missing !== undefined || text.slice(0, position).trimEnd().endsWith(expected)) throw unclear(position)
    restructure(state, 'a missing bracket', position)
    state.missing = position
    state.position = position
  }
  open.pop()
}

/** Checks that exactly one bracket follows for each open one. An extra bracket may mean that an opening bracket is missing. */
function onlyClosersFollow(state: State, from: number): boolean {
  const { text, open } = state
  if (!state.closing) {
    const end = matchEnd(/[\s)\]}]*/y, text, from)
    state.closing =
      text.slice(from, end).replaceAll(/\s/g, '').length === open.length && (end >= text.length || text.startsWith('```', end))
  }
  return state.closing
}

function readScalar(state: State): unknown {
  const { text, position } = state
  const number = matchEnd(NUMBER, text, position)
  if (number >= 0) return readNumber(state, number)
  const constant = matchEnd(CONSTANT, text, position)
  if (constant < 0) return readBare(state)
  const name = text.slice(position, constant)
  if (/^[TFN]/.test(name)) fix(state, 'a Python constant', position)
  state.position = constant
  return /^n/i.test(name) ? null : /^t/i.test(name)
}

/**
 * Reads a number. One that begins with a zero or a plus may be a code or a telephone number, so it stays a string. A schema can still
 * turn it into a number.
 */
function readNumber(state: State, end: number): unknown {
  const { text, position } = state
  const digits = text.slice(position, end)
  const isCode = /^[+-]?0\d|^\+\d{5}/.test(digits)
  if (isCode && !inObject(state)) throw unclear(position)
  if (isCode) {
    fix(state, 'an unquoted text', position, true)
    state.bareEnd = end
  } else if (/^\+|^-?\.|\.(?!\d)/.test(digits)) fix(state, 'a number that JSON does not have', position, digits[0] === '+')
  state.position = end
  return isCode ? digits : Number(digits)
}

function readBare(state: State): string {
  const { text, position } = state
  const word = inObject(state) ? matchEnd(WORD_BEFORE_KEY, text, position) : -1
  const limit = word >= 0 ? word : matchEnd(BARE, text, position)
  if (limit < 0) throw misplaced(position)
  // If another one follows, the text may continue in quotes.
  if (state.wordBeforeKey) throw unclear(position)
  state.wordBeforeKey = word >= 0
  const bare = text
    .slice(position, limit)
    .replace(/\s(?:\/\/|\/\*|#).*$/, '')
    .trimEnd()
  if (NOT_TEXT.test(bare)) throw misplaced(position)
  if (limit === text.length) throw cutOff(state)
  if (NO_NUMBER.test(bare)) throw unclear(position)
  if (!/^[^:=]*[\p{L}\p{N}]/u.test(bare)) throw misplaced(position)
  if (limit - position === 1000) throw unclear(position)
  restructure(state, 'an unquoted text', position, true)
  state.position = state.bareEnd = position + bare.length
  return bare
}
