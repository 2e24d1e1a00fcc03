import { findLines, type Strategy, trimmedLines } from './find.ts'
import { fit } from './fit.ts'

const WORD = /[\p{L}\p{N}\p{M}_$]/u
/** Lines whose key is remembered, as the same one may come again. */
const MAX_KNOWN = 10_000
const OPERATOR = /[-+*/%=<>!&|^~?:.@#]/

/**
 * A line with one way to space it: no space but within strings, between two words, and between two signs that would be
 * another one without it (`+ +` is not `++`). Lines that are equal so have the same meaning in any language that is not
 * made of spaces.
 */
export function spaced(line: string): string {
  let result = ''
  let from = 0
  const stops = /\s+|["'`]/g
  for (let stop = stops.exec(line); stop; stop = stops.exec(line)) {
    if (stop[0].trim() !== '') {
      stops.lastIndex = stringEnd(line, stop.index)
      continue
    }
    result += line.slice(from, stop.index)
    from = stops.lastIndex
    if (joins(result, line.slice(from, from + 1))) result += ' '
  }
  return result + line.slice(from)
}

/** Behind the quotation mark that closes the string; the end of the line where none does. */
function stringEnd(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at++)
    if (line[at] === '\\') at++
    else if (line[at] === line[start]) return at + 1
  return line.length
}

const joins = (before: string, after: string): boolean => {
  const last = before.slice(-1)
  return (WORD.test(last) && WORD.test(after)) || (OPERATOR.test(last) && OPERATOR.test(after))
}

/** Only lines that begin and end as one of the wanted is looked at closer. */
function spacedLike(wanted: readonly string[]): (line: string) => string | undefined {
  const ends = new Set(wanted.map(endsOf))
  const known = new Map<string, string>()
  return (line) => {
    if (!ends.has(endsOf(line))) return undefined
    const key = known.get(line) ?? spaced(line)
    if (known.size < MAX_KNOWN) known.set(line, key)
    return key
  }
}

const endsOf = (line: string): number => (line.charCodeAt(0) << 16) | line.charCodeAt(line.length - 1)

/** Whole lines with the same characters that are not spaces. */
export const spacing: Strategy = {
  name: 'spacing',
  note: 'matched apart from spaces between the characters of a line',
  find: (source, oldText, most) => findLines(source, oldText, most, trimmedLines, (line) => spaced(line.trim()), spacedLike),
  fit,
}
