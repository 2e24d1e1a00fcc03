/** Where a value between tags ends, although it may hold the very tags that end it, and although those may be missing. */

import { isBlank } from './tags.ts'

/** A tag of the grammar in what follows a value's beginning. */
export interface Mark {
  readonly kind:
    | 'parameter' // begins the next parameter and its value
    | 'value' // opens a value only
    | 'value-close'
    | 'odd-close' // closes something else, and is written where a value should be closed
    | 'call' // begins a call that has at least a name and the beginning of a parameter
    | 'call-close'
    | 'wrapper-close'
  readonly at: number
  readonly end: number
}

export interface Markup {
  readonly next: (text: string, from: number) => Mark | undefined
  /** Markup that may stand after a value begins here, white space aside. */
  readonly goesOn: (text: string, at: number) => boolean
  /** Nothing more comes here, or another call: what ended before did end. */
  readonly isOver: (text: string, at: number) => boolean
}

export interface ValueEnd {
  readonly end: number
  /** Where reading goes on. */
  readonly next: number
  readonly damage?: string
}

/** How many tags are looked at beyond a likely end for proof that it was only quoted. A bound keeps the whole linear. */
const LOOKAHEAD = 32

/**
 * The end of the value that begins at `from`: the first closing tag that markup follows and that closes nothing opened inside.
 * Calls quoted in the value are stepped over. Where no such end is, the first likely one. Undefined: the text ends inside.
 */
export function endOfValue(text: string, from: number, markup: Markup): ValueEnd | undefined {
  let likely: (ValueEnd & { readonly after: number }) | undefined
  let left = LOOKAHEAD
  let calls = 0
  let open = 0
  /** A closing tag was passed that closes nothing: it may be quoted, or the text of two parameters whose tag between was lost. */
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

/** The call seems to end here, and words later there is one more end of a value, of none that was opened: this end was in the value. */
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
