/** Objects, lists and scalars, for the tolerant JSON reader. */
import { equal } from '../canonical.ts'
import { cutOff, fix, matchEnd, misplaced, peek, restructure, type State, Stop, skip, unclear } from './json-state.ts'
import { isCloser, isQuote, readString } from './json-string.ts'

const MAX_DEPTH = 200
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?=[\s,\]})]|\/\*|$)/y
const CONSTANT = /(?:true|false|null|True|False|None)(?=[\s,\]})]|\/\*|$)/y
const BARE_KEY = /[A-Za-z_$][\w$.-]*|\d+/y
/** A word, and the next key right after it: only a comma is missing. */
const WORD_BEFORE_KEY = /[\w.$-]{1,100}(?=\s+"[\w.$-]{1,100}"\s*:)/y
const BARE = /[^,{}[\]\n\r]{1,1000}/y
/** Bare words that a reader could take for something else than text. */
const NOT_TEXT =
  /^(?:true|false|null|none|nan|[+-]?inf(?:inity)?|undefined|nil)$|^(?:\.\.|…)|["'`“”‘’\\()<>;]|^\S*\s[^:]*:|:$|.\/\*|^[+-]?[\d.].*\s/i
/** Numbers that were cut off, or of another language: neither a number nor a text for certain. */
const NO_NUMBER = /^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)e[+-]?$|^[+-]?0(?:x[\da-f_]*|[ob]\d*)$|^[+-]?\d[\d_]*_[\d_]*(?:\.\d*)?$|^[+-]?\d+n$/i
/** What begins an item that no comma comes before. */
const PLAIN_ITEM = /["'“”{[]|-?\d|true|false|null/y
/** How texts begin and end, other than what is between two quotes of one text. */
const EDGES = /^(?=.*[\p{L}\p{N}_])["\p{L}\p{N}_<({[/$.-](?:.*["\p{L}\p{N}_>)}\].!?;\\])?$/su
const PLAIN_KEY = /^[\w.$-]+$/

export function readValue(state: State): unknown {
  const char = state.text[state.position]
  if (char === undefined) throw cutOff(state)
  if (char === '{') return readObject(state)
  if (char === '[' || (char === '(' && state.pythonic)) return readList(state, char)
  return isQuote(char) ? readString(state) : readScalar(state)
}

const inObject = ({ open }: State): boolean => open.at(-1) === '}'

/**
 * What is between two brackets, and the commas in it.
 * @param mayFollow whether what begins here is plainly another part, though no comma came before
 */
function readParts(
  state: State,
  closer: string,
  mayFollow: (end: number) => boolean,
  readPart: (noComma: boolean, end: number) => void,
): void {
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
      if (!mayFollow(end)) throw misplaced(state.position)
      restructure(state, 'a missing comma', end)
    }
    readPart(noComma, end)
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

function readList(state: State, opener: string): readonly unknown[] {
  const list: unknown[] = []
  let guessed = false
  let hasQuotes = false
  // Two words or numbers on one line may be one text without its quotes.
  const areWords = (end: number): boolean => [state.text[end - 1], state.text[state.position]].every((one) => /[\w.-]/.test(one ?? ''))
  const mayFollow = (end: number): boolean =>
    matchEnd(PLAIN_ITEM, state.text, state.position) >= 0 &&
    state.bareEnd !== end &&
    (!areWords(end) || state.text.slice(end, state.position).includes('\n'))
  if (opener === '(') fix(state, 'a Python tuple', state.position)
  readParts(state, opener === '(' ? ')' : ']', mayFollow, (noComma, end) => {
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

/** Two texts of a list, or one with `", "` in it: no key tells, so that what looks like either is refused. */
function checkEdges(state: State, list: readonly unknown[], guessed: boolean, hasQuotes: boolean): void {
  const texts = list.filter((item) => typeof item === 'string')
  if (texts.length < 2) return
  state.textsInList = true
  if (!hasQuotes && texts.every((text) => EDGES.test(text))) return
  if (guessed || hasQuotes) throw unclear(state.position)
  state.edgesUnclear = true
}

/** Closes the innermost container: with its bracket, before the bracket of the one around it, or with a wrong one at the very end. */
function close(state: State, comma: boolean): void {
  const { text, position, open } = state
  const closer = text[position] as string
  const expected = open.at(-1) as string
  const outer = open.length - 1 - open.lastIndexOf(closer)
  if (comma && closer !== expected) throw misplaced(position)
  if (comma && closer !== ')') fix(state, 'a trailing comma', position)
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

/** Exactly one bracket for each that is open: one more, and an opening bracket may be what is missing. */
function onlyClosersFollow(state: State, from: number): boolean {
  const { text, open } = state
  if (state.partial) return false
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

/** What begins with a zero or a plus may be a code or a telephone number: its characters stay. A schema can still make it a number. */
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
  // Another one after it, and the text may go on in quotes.
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
