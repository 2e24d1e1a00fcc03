/** How far JSON reaches in a text, by its brackets and strings alone: what stands between them may be broken. */
import { closing, quoteAfter } from '../../arguments/brackets.ts'
import type { Source } from '../family.ts'

export interface Extent {
  /** The first character after it, or where the text ended. */
  readonly end: number
  readonly closed: boolean
}

/**
 * What scanning one text may cost, in characters. A text of nothing but openers would be read to its end from each of them:
 * past this, extents are looked for only close by.
 */
const FLOOR = 2_000_000
const TIMES = 16
const CLOSE_BY = 256
const spent = new WeakMap<Source, number>()

/** The extent of the object or list that begins at `at`. */
export function jsonExtent(source: Source, at: number): Extent {
  const { text } = source
  const before = spent.get(source) ?? 0
  const limit = before > FLOOR + TIMES * text.length ? Math.min(text.length, at + CLOSE_BY) : text.length
  const end = closing(text, at, limit)
  spent.set(source, before + (end === -1 ? limit : end) - at)
  return end === -1 ? { end: limit, closed: false } : { end, closed: true }
}

/** Whether `position` stands inside a string of the JSON that begins at `at`. */
export function isInString(text: string, at: number, position: number): boolean {
  for (let i = at; i < position; i++) {
    if (text[i] !== '"') continue
    i = quoteAfter(text, i + 1, position)
    if (i >= position) return true
  }
  return false
}

/** The first position from `at` on that holds none of `characters`. */
export function skip(text: string, at: number, characters = ' \t\r\n'): number {
  let i = at
  while (i < text.length && characters.includes(text[i] as string)) i++
  return i
}

/** Which of `needles` stands at `at`: the longest, '' for none. */
export function standing(text: string, at: number, needles: readonly string[]): string {
  return needles.reduce((best, needle) => (needle.length > best.length && text.startsWith(needle, at) ? needle : best), '')
}

/** Position of the nearest of `needles` from `from` on, -1 when there is none. */
export function nearest(source: Source, needles: readonly string[], from: number): number {
  return needles.reduce((best, needle) => {
    const at = source.find(needle, from)
    return at !== -1 && (best === -1 || at < best) ? at : best
  }, -1)
}

/** Where one of `closers` ends that stands at `at`, whole or cut by the end of the text; `at` when there is none. */
export function afterCloser(text: string, at: number, closers: readonly string[]): number {
  const closer = standing(text, at, closers)
  if (closer) return at + closer.length
  const rest = text.slice(at, at + 64)
  return rest && at + rest.length === text.length && closers.some((one) => one.startsWith(rest)) ? text.length : at
}
