/** Finds the end of a value between tags, although the value may contain those very tags and its closing tag may be missing. */

import { isBlank } from './tags.ts'

/** A tag of the grammar after the start of a value. */
export interface Mark {
  readonly kind:
    | 'parameter' // begins the next parameter and its value
    | 'value' // only opens a value
    | 'value-close'
    | 'odd-close' // closes something else, but is used to close a value
    | 'call' // begins a call with at least a name and the start of a parameter
    | 'call-close'
    | 'wrapper-close'
  readonly at: number
  readonly end: number
}

export interface Markup {
  readonly next: (text: string, from: number) => Mark | undefined
  /** Returns whether markup that may follow a value begins here, ignoring white space. */
  readonly goesOn: (text: string, at: number) => boolean
  /** Returns whether nothing more follows here, or another call does, so that the value before has ended. */
  readonly isOver: (text: string, at: number) => boolean
}

export interface ValueEnd {
  readonly end: number
  /** Where reading continues. */
  readonly next: number
  readonly damage?: string
}

/** How many tags after a likely end are checked for evidence that it was only quoted. The bound keeps reading linear. */
const LOOKAHEAD = 32

/**
 * Returns the end of the value that begins at `from`: the first closing tag that is followed by markup and closes nothing opened
 * inside the value. Skips calls quoted in the value. If there is no such end, returns the first likely one; undefined if the text ends
 * inside the value.
 */
export function endOfValue(text: string, from: number, markup: Markup): ValueEnd | undefined {
  let likely: (ValueEnd & { readonly after: number }) | undefined
  let left = LOOKAHEAD
  let calls = 0
  let open = 0
  /**
   * A closing tag was passed that closes nothing. It may be quoted, or the value may be the text of two parameters with the tag
   * between them lost.
   */
  let held = false
  for (let mark = markup.next(text, from); mark; mark = markup.next(text, mark.end)) {
    if (likely && left-- === 0) return likely
    if (calls > 0) {
      if (mark.kind === 'call') calls++
      else if (mark.kind === 'call-close') calls--
      continue
    }
    if (mark.kind === 'call') {
      if (likely && isBlank(text, likely.after, mark.at)) return likely
      calls++
    } else if (mark.kind === 'value' || mark.kind === 'parameter') {
      if (mark.kind === 'parameter') likely ??= unclosed(mark)
      open++
    } else if (mark.kind === 'value-close') {
      if (markup.goesOn(text, mark.end)) {
        if (open === 0 && !isQuoted(text, mark, markup))
          return { end: mark.at, next: mark.end, ...(held && { damage: 'a value held a closing tag' }) }
        if (open > 0) likely ??= { end: mark.at, next: mark.end, after: mark.end }
      }
      if (open === 0) held = true
      open = Math.max(0, open - 1)
    } else if (mark.kind === 'odd-close') {
      if (markup.goesOn(text, mark.end))
        likely ??= { end: mark.at, next: mark.end, after: mark.end, damage: 'a value was closed by another tag' }
    } else if (markup.isOver(text, mark.end)) likely ??= unclosed(mark)
  }
  return likely
}

function unclosed(mark: Mark): ValueEnd & { readonly after: number } {
  return { end: mark.at, next: mark.at, after: mark.end, damage: 'the closing tag of a value was missing' }
}

/** Returns whether a seeming end is part of the value: after more words, another value ends that was never opened. */
function isQuoted(text: string, close: Mark, markup: Markup): boolean {
  let mark = markup.next(text, close.end)
  let words = false
  let from = close.end
  for (let left = LOOKAHEAD; mark && left > 0 && isClosing(mark); left--, mark = markup.next(text, mark.end)) {
    if (!isBlank(text, from, mark.at)) words = true
    if (words) {
      const after = mark.kind === 'value-close' ? markup.next(text, mark.end) : undefined
      return (after?.kind === 'call-close' || after?.kind === 'parameter') && isBlank(text, mark.end, after.at)
    }
    from = mark.end
  }
  return false
}

const isClosing = (mark: Mark): boolean => mark.kind.endsWith('-close')
