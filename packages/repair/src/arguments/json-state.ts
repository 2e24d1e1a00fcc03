/** State shared by the parts of the tolerant JSON reader: the text, open brackets, repairs and white space. */
import { matchEnd } from '../text.ts'

export interface JsonFix {
  /** A short description: 'a trailing comma', 'single quotes', 'an unescaped quote'. */
  readonly what: string
  /** Position in characters. */
  readonly position: number
  /** The repair determined the contents of a string or turned bare words into one. Not allowed for tools with effects. */
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
  /** Stop at the first fault. A quote is then always a quote, so the end of a string is never in doubt. */
  readonly strict: boolean
  /** Closing brackets of the objects and lists that are open. */
  readonly open: string[]
  readonly fixes: Map<string, JsonFix>
  position: number
  /** Number of strings that contain unescaped quotes, so that their end had to be inferred. */
  quotesGuessed: number
  /** A single-quoted string contains an unescaped apostrophe. */
  apostrophes?: boolean
  /** A string in a list begins or ends in an unusual way, as the text between two quotes inside one string may. */
  edgesUnclear?: boolean
  /** A list has two or more strings, which may be one string that contains quotes. */
  textsInList?: boolean
  /** A comma, colon, bracket or quote was added or ignored. */
  structureGuessed?: boolean
  /** Position of the single bracket that may be missing. */
  missing?: number
  /** Only closing brackets follow. */
  closing?: boolean
  /** End of the last unquoted string. */
  bareEnd?: number
  /** An unquoted string ended at the next key without a comma. */
  wordBeforeKey?: boolean
}

/** Thrown to stop the reader from any depth. Never leaves `readJson`. Not an `Error`, because recording a stack trace is slow. */
export class Stop {
  readonly refusal: Refusal
  constructor(why: string, position: number, cutOff = false) {
    this.refusal = { ok: false, why, position, cutOff }
  }
}

export const cutOff = ({ text }: State): Stop => new Stop('the text ends before the value does', text.length, true)

export const misplaced = (position: number): Stop => new Stop('what stands here does not belong here', position)
export const unclear = (position: number, isCutOff = false): Stop => new Stop('what is meant here is not clear', position, isCutOff)

/** Records a fault, once per kind, at its first position. */
export function fix(state: State, what: string, position: number, changesText = false): void {
  if (state.strict) throw new Stop(what, position)
  const known = state.fixes.get(what) ?? { position, changesText: false }
  state.fixes.set(what, { what, position: known.position, changesText: changesText || known.changesText })
}

/** Like `fix`, for repairs that change where values begin and end. */
export function restructure(state: State, what: string, position: number, changesText = false): void {
  state.structureGuessed = true
  fix(state, what, position, changesText)
}

const JSON_SPACE = /[ \t\n\r]*/y
export const SPACE = /\s*/y
const COMMENT = /\/\*.*?(?:\*\/|$)|(?:\/\/|(?<=(?:^|\n)[ \t]*)#)[^\n]*/sy
/** Lookahead skips short comments only, so that a long comment is not scanned again from many positions. */
const SPACE_AND_COMMENTS = /(?:\s+|\/\*.{0,196}?(?:\*\/|$)|(?:\/\/|(?<=(?:^|\n)[ \t]*)#)[^\n]{0,198}(?![^\n]))*/sy

/** Skips white space and comments and records the comments. */
export function skip(state: State): void {
  const { text } = state
  for (;;) {
    state.position = matchEnd(JSON_SPACE, text, state.position)
    const space = matchEnd(SPACE, text, state.position)
    if (space > state.position) fix(state, 'special white space', state.position)
    const end = matchEnd(COMMENT, text, space)
    if (end <= space && space === state.position) return
    state.position = Math.max(end, space)
    if (end <= space) continue
    const comment = text.slice(space, end)
    // It may be a string without its opening quote.
    if (comment.split('"').length % 2 === 0 || comment.includes('\\"') || state.fixes.has('single quotes')) throw unclear(space)
    fix(state, 'a comment', space)
  }
}

/** Like `skip`, without recording anything. Returns the new position. */
export const peek = ({ text }: State, from: number): number => matchEnd(SPACE_AND_COMMENTS, text, from)
