/** What the parts of the tolerant JSON reader share: the text, what is open, what was repaired, and white space. */

export interface JsonFix {
  /** A few words: 'a trailing comma', 'single quotes', 'an unescaped quote'. */
  readonly what: string
  /** In characters. */
  readonly position: number
  /** The repair decided which characters a string has, or made bare words a string: not for tools with effects. */
  readonly changesText: boolean
}

export interface Refusal {
  readonly ok: false
  readonly why: string
  readonly position: number
  /** The text ends inside the value. */
  readonly cutOff: boolean
}

export interface State {
  readonly text: string
  /** The first fault ends the reading: a quote is then a quote, and the end of a string is never in doubt. */
  readonly strict: boolean
  readonly partial: boolean | undefined
  readonly pythonic: boolean | undefined
  /** What closes the objects and lists that are open. */
  readonly open: string[]
  readonly fixes: Map<string, JsonFix>
  position: number
  /** How many strings have quotes in them that are not escaped: where each string ends is then an inference. */
  quotesGuessed: number
  /** A text has an apostrophe that is not escaped in single quotes. */
  apostrophes?: boolean
  /** A text in a list begins or ends as no text does, but as what is between two quotes of one text may. */
  edgesUnclear?: boolean
  /** A list has two texts or more, which may be one with quotes in it. */
  textsInList?: boolean
  /** A comma, colon, bracket or quote was added or ignored. */
  structureGuessed?: boolean
  /** Where the one bracket that may be missing was missed. */
  missing?: number
  /** Nothing but closing brackets follows. */
  closing?: boolean
  /** Where the last text without quotes ended. */
  bareEnd?: number
  /** A text without quotes ended where the next key began, without a comma. */
  wordBeforeKey?: boolean
}

/** Ends the reading from any depth. It never leaves `readJson`. */
export class Stop extends Error {
  readonly refusal: Refusal
  constructor(why: string, position: number, cutOff = false) {
    super(why)
    this.refusal = { ok: false, why, position, cutOff }
  }
}

export const cutOff = ({ text }: State): Stop => new Stop('the text ends before the value does', text.length, true)

export const misplaced = (position: number): Stop => new Stop('what stands here does not belong here', position)
export const unclear = (position: number, isCutOff = false): Stop => new Stop('what is meant here is not clear', position, isCutOff)

/** One note per kind of fault, at its first place. */
export function fix(state: State, what: string, position: number, changesText = false): void {
  if (state.strict) throw new Stop(what, position)
  const known = state.fixes.get(what) ?? { position, changesText: false }
  state.fixes.set(what, { what, position: known.position, changesText: changesText || known.changesText })
}

/** As `fix`, for what changes where things begin and end. */
export function restructure(state: State, what: string, position: number, changesText = false): void {
  state.structureGuessed = true
  fix(state, what, position, changesText)
}

const JSON_SPACE = /[ \t\n\r]*/y
export const SPACE = /\s*/y
const COMMENT = /\/\*.*?(?:\*\/|$)|(?:\/\/|(?<=(?:^|\n)[ \t]*)#)[^\n]*/sy
/** Looking ahead goes past short comments only: many places must not share the work behind one long comment. */
const SPACE_AND_COMMENTS = /(?:\s+|\/\*.{0,196}?(?:\*\/|$)|(?:\/\/|(?<=(?:^|\n)[ \t]*)#)[^\n]{0,198}(?![^\n]))*/sy

/** Where a sticky pattern ends that begins here; -1 when it does not match. */
export function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** Goes past white space and comments, and notes them. */
export function skip(state: State): void {
  const { text } = state
  for (;;) {
    state.position = matchEnd(JSON_SPACE, text, state.position)
    const space = matchEnd(SPACE, text, state.position)
    if (space > state.position) fix(state, 'special white space', state.position)
    const comment = matchEnd(COMMENT, text, space)
    if (comment > space) noteComment(state, space, comment)
    else if (space === state.position) return
    state.position = Math.max(comment, space)
  }
}

/** What looks like a comment may be a text whose first quote is missing. */
function noteComment(state: State, from: number, to: number): void {
  const comment = state.text.slice(from, to)
  if (comment.split('"').length % 2 === 0 || comment.includes('\\"') || state.fixes.has('single quotes')) throw unclear(from)
  fix(state, 'a comment', from)
}

/** The same without notes. */
export const peek = ({ text }: State, from: number): number => matchEnd(SPACE_AND_COMMENTS, text, from)
