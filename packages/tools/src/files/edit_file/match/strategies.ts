/** Strategies for finding an old text that is written differently in the file. Pure. */
import { findLines, linesOf, type Place, type Source, type Strategy, textOccurrences, trimmedLines, withText } from './find.ts'
import { fit, type Stretch } from './fit.ts'
import { type Folded, fold, isAscii } from './folded.ts'
import type { Lines } from './reindentation.ts'

/** Matches whole lines whose keys are equal. */
const wholeLines = (
  name: string,
  note: string,
  keys: (source: Source) => readonly string[],
  key: (line: string) => string,
  more?: (wanted: readonly string[]) => (key: string) => string | undefined,
): Strategy => ({ name, note, find: (source, oldText, most) => findLines(source, oldText, most, keys, key, more), fit })

const exact: Strategy = {
  name: 'exact',
  find: (source, oldText, most) => textOccurrences(source, oldText, most).map((start) => ({ start, end: start + oldText.length })),
  fit: (_found, _oldText, newText) => newText,
}

const endedLines = (source: Source): readonly string[] => source.derive(linesOf).map((line) => line.trimEnd())

/** Ignores spaces at the ends of lines. */
const lineTrimmed = wholeLines('line-trimmed', 'matched apart from spaces at the ends of lines', endedLines, (line) => line.trimEnd())

/** Ignores differences in indentation. */
const indentationShifted = wholeLines(
  'indentation-shifted',
  'matched apart from indentation; that of the file was kept',
  trimmedLines,
  (line) => line.trim(),
)

const folded = ({ text }: Source): Folded => fold(text)
const foldedSource = (source: Source): Source => withText(source, source.derive(folded).text)
const foldedLines = (source: Source): readonly string[] => source.derive(foldedSource).derive(trimmedLines)

/** Matches text that is equal after normalization, anywhere or as whole lines with different indentation. */
const madePlain = (
  plain: (text: string) => string,
  plainSource: (source: Source) => Source,
  plainLines: (source: Source) => readonly string[],
  applies: (source: Source, oldText: string, wanted: string) => boolean,
): Strategy['find'] => {
  const key = (text: string): string => plain(fold(text).text)
  return (source, oldText, most) => {
    const wanted = key(oldText)
    // Punctuation alone does not identify a place.
    if (!/[\p{L}\p{N}]/u.test(oldText) || !applies(source, oldText, wanted)) return []
    const { original } = source.derive(folded)
    const found: Place[] = []
    for (const at of textOccurrences(source.derive(plainSource), wanted, most)) {
      const [start, end] = [original(at), original(at + wanted.length)]
      if (start !== undefined && end !== undefined) found.push({ start, end })
    }
    return found.length > 0 ? found : findLines(source, oldText, most, plainLines, (line) => key(line).trim())
  }
}

/** Replaces typographic characters with plain ones. */
const typography: Strategy = {
  name: 'typography',
  note: 'matched apart from typographic quotes, dashes, spaces and full-width forms; those of the file were kept where the text stays',
  find: madePlain(
    (text) => text,
    foldedSource,
    foldedLines,
    (source, oldText) => !isAscii(oldText) || !isAscii(source.text),
  ),
  fit: (found, oldText, newText) => fit(found, oldText, newText, { changed: withEnds }),
}

/** Takes the new line only between its common prefix and suffix with the old one; the bytes of the file stay outside of that. */
function withEnds(next: string, _old: string, found: string): string {
  const [ours, theirs] = [fold(next), fold(found)]
  const shortest = Math.min(ours.text.length, theirs.text.length)
  const whole = (before: number, after: number): boolean =>
    [
      ours.original(before),
      theirs.original(before),
      ours.original(ours.text.length - after),
      theirs.original(theirs.text.length - after),
    ].every((one) => one !== undefined)
  let before = 0
  while (before < shortest && ours.text[before] === theirs.text[before]) before++
  while (!whole(before, 0)) before--
  let after = 0
  while (after < shortest - before && ours.text.at(-1 - after) === theirs.text.at(-1 - after)) after++
  while (!whole(before, after)) after--
  return (
    found.slice(0, theirs.original(before)) +
    next.slice(ours.original(before), ours.original(ours.text.length - after)) +
    found.slice(theirs.original(theirs.text.length - after))
  )
}

const alike = (text: string): string => text.replaceAll(/["`]/g, "'")
const alikeSource = (source: Source): Source => withText(source, alike(source.derive(folded).text))
const alikeLines = (source: Source): readonly string[] => source.derive(alikeSource).derive(trimmedLines)

/** Treats all quotation marks as the same. A line that the edit changes is taken from the new text. */
const quotes: Strategy = {
  name: 'quotes',
  note: 'matched apart from the kind of quotation marks; lines that stay keep those of the file',
  find: madePlain(alike, alikeSource, alikeLines, (_source, _oldText, wanted) => wanted.includes("'")),
  fit,
}

const WORD = /[\p{L}\p{N}\p{M}_$]/u
/** Lines whose key is cached, because equal lines may follow. */
const MAX_KNOWN = 10_000
const OPERATOR = /[-+*/%=<>!&|^~?:.@#]/

/**
 * Returns a line with normalized spacing: no spaces except in strings, between two words, and between two signs that would otherwise form
 * another one (`+ +` is not `++`). Lines that are equal after this have the same meaning in any language without significant spaces.
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

/** Returns the position after the quotation mark that closes the string, or the end of the line if none does. */
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

/** Returns a key function that examines only lines with the same beginning and end as a wanted line. */
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

/** Ignores differences in spacing within a line. */
const spacing = wholeLines(
  'spacing',
  'matched apart from spaces between the characters of a line',
  trimmedLines,
  (line) => spaced(line.trim()),
  spacedLike,
)

/** Maximum number of individual line comparisons. Only an endlessly repetitive text needs more. */
const MAX_COMPARED = 1_000_000
const LEFT_OUT = /[,;]$/

const bare = (line: string): string => line.trim().replace(LEFT_OUT, '')
const bareLines = (source: Source): readonly string[] =>
  source.derive(trimmedLines).map((line) => (LEFT_OUT.test(line) ? line.slice(0, -1) : line))

/** Returns the end of the file's line that the old text left out. */
const leftOut = (old: string, found: string): string => found.trim().slice(old.trim().length)

/** Returns true if the file's line is the old one, possibly with one more sign. */
const isLike = (old: string, found: string): boolean =>
  found.trim() === old.trim() || (old.trim() !== '' && bare(found) === old.trim() && !LEFT_OUT.test(old.trim()))

/** Matches whole lines except for a final comma or semicolon that the old text left out. */
const punctuation: Strategy = {
  name: 'punctuation',
  note: 'matched apart from commas and semicolons at the ends of lines; lines that stay keep those of the file',
  find(source, oldText, most) {
    const ours = oldText.split('\n')
    const places = findLines(source, oldText, most, bareLines, bare)
    return places.length * ours.length > MAX_COMPARED
      ? []
      : places.filter(({ start, end }) => {
          const theirs = source.text.slice(start, end).split('\n')
          return ours.every((line, at) => isLike(line, theirs[at] ?? ''))
        })
  },
  fit: (found, oldText, newText) => fit(found, oldText, newText, { moves: (old, line) => leftOut(old, line) === '', sound }),
}

/** A line that replaces, or stands beside, one whose sign was left out must have the sign; otherwise it would be left out again. */
function sound({ old: first, oldCount, next: from, nextCount }: Stretch, { old, found, next }: Lines): boolean {
  const sign = (at: number): string => (old[at] === undefined ? '' : leftOut(old[at], found[at] as string))
  const has = (line: string, mark: string): boolean => line.trimEnd().endsWith(mark)
  const lines = next.slice(from, from + nextCount)
  if (lines.every((line) => line.trim() === '')) return true
  if (lines.some((line) => sign(old.indexOf(line)) !== '')) return false
  if (oldCount === nextCount) return lines.every((line, at) => has(line, sign(first + at)))
  if (oldCount > 0) return old.slice(first, first + oldCount).every((_, at) => sign(first + at) === '')
  const last = lines.findLast((line) => line.trim() !== '') ?? ''
  return has(last, sign(first - 1)) && has(last, sign(first))
}

/** Escapes that models write once too often, and what they stand for. A line break is what a JSON string would have for it. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '`': '`', $: '$', '\\': '\\' }
const ESCAPE = /\\([ntr"'`$\\])/g

const escapesIn = (text: string): ReadonlySet<string> => new Set([...text.matchAll(ESCAPE)].map(([, sign = '']) => sign))

/** Resolves the escapes of these kinds; the others stay. */
const unescaped = (text: string, kinds: ReadonlySet<string>): string =>
  text.replace(ESCAPE, (whole, sign: string) => (kinds.has(sign) ? (ESCAPES[sign] as string) : whole))

/**
 * Matches an old text that was escaped once too often: `\\n`, `\\"`, `\\$`. The new text is taken to be escaped in the same way; if it
 * has an escape that the old text lacks, it is unclear whether that one is meant.
 */
const escaped: Strategy = {
  name: 'escaped',
  note: 'matched after its escapes (backslashes) were resolved once; those of the new text were too',
  find(source, oldText, most) {
    const kinds = escapesIn(oldText)
    const wanted = unescaped(oldText, kinds)
    // Without letters or digits, the text does not identify a place.
    if (kinds.size === 0 || !/[\p{L}\p{N}]/u.test(wanted)) return []
    const found = textOccurrences(source, wanted, most).map((start) => ({ start, end: start + wanted.length }))
    return found.length > 0 ? found : findLines(source, wanted, most, trimmedLines, (line) => line.trim())
  },
  fit(found, oldText, newText) {
    const kinds = escapesIn(oldText)
    if (![...escapesIn(newText)].every((kind) => kinds.has(kind))) return undefined
    const [old, next] = [unescaped(oldText, kinds), unescaped(newText, kinds)]
    return found === old ? next : fit(found, old, next)
  },
}

/** In the order they are tried: from the safest to the most lenient. */
export const STRATEGIES: readonly Strategy[] = [
  ...[exact, lineTrimmed, indentationShifted, typography, quotes, escaped],
  ...[spacing, punctuation],
]
