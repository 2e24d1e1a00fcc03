/** Converts line endings to `\n` for matching and back to the original ones. Pure. */
import { align } from './match/fit.ts'
import { replaced } from './match/folded.ts'

export interface Flat {
  readonly text: string
  /** Maps an offset in {@link text} to the original. At a line ending: before its carriage return. */
  readonly original: (offset: number) => number
  /** Returns a text with the line endings that the original has between two offsets of {@link text}. */
  readonly ended: (start: number, end: number, text: string) => string
}

type Newline = '\n' | '\r\n'

export function flatten(original: string): Flat {
  if (!original.includes('\r\n')) return { text: original, original: (offset) => offset, ended: (_start, _end, text) => text }
  const { text, original: back } = replaced(original, /\r\n/g, () => '\n')
  const toOriginal = (offset: number): number => back(offset) as number
  const hadReturn = (newline: number): boolean => original[toOriginal(newline)] === '\r'
  const newline = (start: number, end: number): Newline => {
    const inside = text.indexOf('\n', start)
    if (inside !== -1) return hadReturn(inside) ? '\r\n' : '\n'
    const above = text.lastIndexOf('\n', Math.max(start, end) - 1)
    return above !== -1 && hadReturn(above) ? '\r\n' : '\n'
  }
  const mixed = original.length - text.length < text.split('\n').length - 1
  return {
    text,
    original: toOriginal,
    ended(start, end, replacement) {
      const usual = newline(start, end)
      if (!replacement.includes('\n')) return replacement
      return mixed ? endedAs(original.slice(toOriginal(start), toOriginal(end)), replacement, usual) : replacement.replaceAll('\n', usual)
    },
  }
}

/** Goes line by line: a line that stays or replaces another keeps that line ending; an added line gets the one of the previous line. */
function endedAs(original: string, replacement: string, usual: Newline): string {
  const ends = [...original.matchAll(/\r?\n/g)].map(([end]) => end)
  const lines = replacement.split('\n')
  let result = ''
  let last: string = usual
  for (const { old, oldCount, next, nextCount } of align(original.split(/\r?\n/), lines))
    for (let at = 0; at < nextCount; at++) {
      last = (at < oldCount ? ends[old + at] : undefined) ?? last
      result += lines[next + at] + (next + at < lines.length - 1 ? last : '')
    }
  return result
}

/** Converts line endings to `\n`. */
export const flattened = (text: string): string => text.replaceAll('\r\n', '\n')
