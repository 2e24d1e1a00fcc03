/** Whole lines that count as equal when something about them is. Pure. */
import type { Place } from './match.ts'
import { occurrences } from './occurrences.ts'
import { linesOf, type Source } from './source.ts'

/** What is equal of lines that count as equal: of those of the text, in order. */
export type LineKeys = (source: Source) => readonly string[]

const lineStarts = (source: Source): Float64Array => {
  const lines = source.derive(linesOf)
  const starts = new Float64Array(lines.length)
  let offset = 0
  for (const [at, line] of lines.entries()) {
    starts[at] = offset
    offset += line.length + 1
  }
  return starts
}

/**
 * @param keys of the lines of the file
 * @param key of a line of the old text, which is made as `keys` are
 * @param more what is equal of a line of the file, of that which `keys` gives; for what is costly, and needed for few lines
 */
export function findLines(
  source: Source,
  oldText: string,
  most: number,
  keys: LineKeys,
  key: (line: string) => string,
  more: (wanted: readonly string[]) => (key: string) => string | undefined = () => (one) => one,
): Place[] {
  const endsLine = oldText.endsWith('\n')
  const wanted = (endsLine ? oldText.slice(0, -1) : oldText).split('\n').map(key)
  // Blank lines alone are everywhere and nowhere.
  if (wanted.every((line) => line === '')) return []
  const numbers = new Map<string | undefined, number>()
  for (const line of wanted) if (!numbers.has(line)) numbers.set(line, numbers.size)
  const keyed = source.derive(keys)
  const rest = more(wanted)
  const lines = new Int32Array(keyed.length)
  for (let at = 0; at < keyed.length; at++) lines[at] = numbers.get(rest(keyed[at] as string)) ?? -1
  const found = occurrences(
    lines,
    Int32Array.from(wanted, (line) => numbers.get(line) as number),
    most,
  )
  const [starts, texts] = [source.derive(lineStarts), source.derive(linesOf)]
  return found.map((first) => {
    const last = first + wanted.length - 1
    const end = (starts[last] as number) + (texts[last] as string).length
    return { start: starts[first] as number, end: endsLine && end < source.text.length ? end + 1 : end }
  })
}
