/** Finds the ends of calls and blocks, by their closing tokens or their brackets. */
import { closing, skip, stringEnd, tokenAt } from '../../text.ts'
import type { Block, MarkupCall, Source } from '../family.ts'

/** Returns the position of the nearest of `tokens` at or after `from`, or -1. */
export function nearest(source: Source, tokens: readonly string[], from: number): number {
  return tokens.reduce((best, token) => {
    const at = source.find(token, from)
    return at !== -1 && (best === -1 || at < best) ? at : best
  }, -1)
}

/** Returns the end of one of `closers` at `at`, complete or truncated at the end of the text; `at` if there is none. */
export function afterCloser(text: string, at: number, closers: readonly string[]): number {
  const closer = tokenAt(text, at, closers)
  if (closer) return at + closer.length
  const rest = text.slice(at, at + 64)
  return rest && at + rest.length === text.length && closers.some((one) => one.startsWith(rest)) ? text.length : at
}

/** Like `afterCloser`, after skipping any characters in `noise`. */
export function afterNoise(text: string, at: number, closers: readonly string[], noise?: string): number {
  const next = skip(text, at, noise)
  const end = afterCloser(text, next, closers)
  return end === next ? at : end
}

/** Builds a block from the calls read up to `end`, including their closing token if one follows. */
export function closedBlock(source: Source, calls: readonly MarkupCall[], read: Read, closers: readonly string[], noise?: string): Block {
  const { end, whole } = read
  return { calls, end: whole ? afterNoise(source.text, end, closers, noise) : end, complete: whole }
}

type Read = { readonly end: number; readonly whole: boolean }

/**
 * Budget for scanning one text, in characters. A text made only of openers would be read to its end from each of them; once the budget
 * is spent, ends are searched for only nearby.
 */
const FLOOR = 2_000_000
const TIMES = 16
const CLOSE_BY = 256
const budgets = new WeakMap<Source, { spent: number }>()

export type Extent = ReturnType<typeof jsonExtent>

/** Returns the extent of the object or list at `at`: up to the first character after it, or to the end of the text. */
export function jsonExtent(source: Source, at: number) {
  const { text } = source
  const budget = budgets.get(source) ?? { spent: 0 }
  if (budget.spent === 0) budgets.set(source, budget)
  const limit = budget.spent > FLOOR + TIMES * text.length ? Math.min(text.length, at + CLOSE_BY) : text.length
  const end = closing(text, at, limit)
  budget.spent += (end === -1 ? limit : end) - at
  return { end: end === -1 ? limit : end, closed: end !== -1 }
}

/** Returns whether `position` is inside a string of the JSON that begins at `at`. */
export function isInString(text: string, at: number, position: number): boolean {
  for (let i = text.indexOf('"', at); i !== -1 && i < position; i = text.indexOf('"', i + 1)) {
    i = stringEnd(text, i + 1, '"')
    if (i === -1 || i >= position) return true
  }
  return false
}
