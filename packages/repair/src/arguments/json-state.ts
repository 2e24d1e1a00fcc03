/** What the parts of the tolerant JSON reader share: the text, what is open, what was mended, and white space. */

export interface JsonFix {
  /** A few words: 'a trailing comma', 'single quotes', 'an unescaped quote'. */
  readonly what: string
  /** In characters. */
  readonly position: number
  /** The repair decided which characters a string has, or made bare words a string: not for tools with effects. */
  readonly changesText: boolean
}

export type Container = '{' | '[' | '('
export const CLOSER: Readonly<Record<Container, string>> = { '{': '}', '[': ']', '(': ')' }

export interface State {
  readonly text: string
  /** The first fault ends the reading: a quote is then a quote, and the end of a string is never in doubt. */
  readonly strict: boolean
  readonly partial: boolean
  readonly pythonic: boolean
  readonly open: Container[]
  readonly fixes: Map<string, JsonFix>
  position: number
  /** How many strings have quotes in them that are not escaped: where each string ends is then an inference. */
  quotesGuessed: number
  /** A text has an apostrophe that is not escaped in single quotes. */
  apostrophes: boolean
  /** A text in a list begins or ends as no text does, but as what stands between two quotes of one text may. */
  edgesUnclear: boolean
  /** A list has two texts or more, which may be one with quotes in it. */
  textsInList: boolean
  /** A comma, colon, bracket or quote was added or ignored. */
  structureGuessed: boolean
  /** Where the one bracket that may be missing was missed. */
  missing: number
  /** Nothing but closing brackets follows. */
  closing: boolean
  /** Where the last text without quotes ended. */
  bareEnd: number
  /** A text without quotes ended where the next key began, without a comma. */
  wordBeforeKey: boolean
  /** The ends of comments that were looked up, so that no hostile text makes the same search twice. */
  readonly ends: Map<string, { readonly from: number; readonly found: number }>
}

/** Ends the reading from any depth. It never leaves `readJson`. */
export class Stop extends Error {
  readonly position: number
  readonly cutOff: boolean
  constructor(why: string, position: number, cutOff = false) {
    super(why)
    this.position = position
    this.cutOff = cutOff
  }
}

export function cutOff(state: State): Stop {
  return new Stop('the text ends before the value does', state.text.length, true)
}

/** One note per kind of fault, at its first place. */
export function fix(state: State, what: string, position: number, changesText = false): void {
  if (state.strict) throw new Stop(what, position)
  const known = state.fixes.get(what)
  if (!known || (changesText && !known.changesText)) state.fixes.set(what, { what, position: known?.position ?? position, changesText })
}

/** As `fix`, for what changes where things begin and end. */
export function restructure(state: State, what: string, position: number, changesText = false): void {
  state.structureGuessed = true
  fix(state, what, position, changesText)
}

const JSON_SPACE = /[ \t\n\r]*/y
const SPACE = /\s*/y
/** Looking ahead goes past short comments only: many places must not share the work behind one long comment. */
const SHORT_COMMENT = 200

/** Where a sticky pattern ends that begins here; -1 when it does not match. */
export function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** Goes past white space and comments, and notes them. */
export function skip(state: State): void {
  for (;;) {
    state.position = matchEnd(JSON_SPACE, state.text, state.position)
    const space = matchEnd(SPACE, state.text, state.position)
    if (space > state.position) fix(state, 'special white space', state.position)
    const comment = commentEnd(state, space)
    if (comment > space) noteComment(state, space, comment)
    else if (space === state.position) return
    state.position = comment
  }
}

/** What looks like a comment may be a text whose first quote is missing. */
function noteComment(state: State, from: number, to: number): void {
  const comment = state.text.slice(from, to)
  if (comment.split('"').length % 2 === 0 || comment.includes('\\"')) throw new Stop('whether a comment begins here is unclear', from)
  fix(state, 'a comment', from)
}

/** The same without notes. */
export function peek(state: State, from: number): number {
  let at = from
  for (;;) {
    at = matchEnd(SPACE, state.text, at)
    const end = commentEnd(state, at)
    if (end === at || end - at > SHORT_COMMENT) return at
    at = end
  }
}

function commentEnd(state: State, at: number): number {
  const { text } = state
  if (text[at] === '/' && text[at + 1] === '*') return find(state, '*/', at + 2, 2)
  if (text[at] === '/' && text[at + 1] === '/') return find(state, '\n', at + 2, 0)
  return text[at] === '#' && startsLine(text, at) ? find(state, '\n', at + 1, 0) : at
}

function startsLine(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === ' ' || text[before] === '\t') before--
  return before < 0 || text[before] === '\n'
}

function find(state: State, what: string, from: number, length: number): number {
  const known = state.ends.get(what)
  if (known && known.from <= from && from <= known.found) return Math.min(known.found + length, state.text.length)
  const at = state.text.indexOf(what, from)
  const found = at < 0 ? state.text.length : at
  state.ends.set(what, { from, found })
  return Math.min(found + length, state.text.length)
}
