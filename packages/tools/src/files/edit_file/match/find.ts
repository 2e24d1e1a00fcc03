/** Finds an old text in a file: the exact text, or whole lines that count as equal. Pure. */

/** A range in a text whose only line ending is `\n`. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** A way to find the old text. Strategies are tried in order, and the first one that finds anything wins. */
export interface Strategy {
  readonly name: string
  /** Note for the model when this strategy was used. */
  readonly note?: string
  /** Returns up to `most` places in order, including overlapping ones: two places are already ambiguous. */
  readonly find: (source: Source, oldText: string, most: number) => readonly Place[]
  /** Returns the replacement for a place: the new text, adapted to how the place was found. `undefined` if that would be a guess. */
  readonly fit: (found: string, oldText: string, newText: string) => string | undefined
}

/**
 * A text whose only line ending is `\n`, with data that strategies derive from it. Each is computed once, however many edits are searched
 * for.
 */
export interface Source {
  readonly text: string
  /** Returns the result of `make` for this text, computed once. `make` must be the same function each time. */
  readonly derive: <T>(make: (source: Source) => T) => T
}

export function sourceOf(text: string): Source {
  const made = new Map<unknown, unknown>()
  const source: Source = {
    text,
    derive<T>(make: (source: Source) => T): T {
      if (!made.has(make)) made.set(make, make(source))
      return made.get(make) as T
    },
  }
  return source
}

/** Returns the source for another text, or this one if the text is the same. */
export const withText = (source: Source, text: string): Source => (text === source.text ? source : sourceOf(text))

export const linesOf = ({ text }: Source): readonly string[] => text.split('\n')

export const trimmedLines = (source: Source): readonly string[] => source.derive(linesOf).map((line) => line.trim())

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
 * Finds runs of lines that count as equal.
 *
 * @param keys comparison keys of the lines of the file, in order
 * @param key comparison key of a line of the old text, computed like `keys`
 * @param more second key of a line of the file, computed from its `keys` entry; for expensive keys that few lines need
 */
export function findLines(
  source: Source,
  oldText: string,
  most: number,
  keys: (source: Source) => readonly string[],
  key: (line: string) => string,
  more: (wanted: readonly string[]) => (key: string) => string | undefined = () => (one) => one,
): Place[] {
  const endsLine = oldText.endsWith('\n')
  const wanted = (endsLine ? oldText.slice(0, -1) : oldText).split('\n').map(key)
  // Blank lines alone do not identify a place.
  if (wanted.every((line) => line === '')) return []
  const numbers = new Map<string | undefined, number>()
  for (const line of wanted) numbers.set(line, numbers.get(line) ?? numbers.size)
  const numbered = (lines: readonly string[], rest: (line: string) => string | undefined): Int32Array =>
    Int32Array.from(lines, (line) => numbers.get(rest(line)) ?? -1)
  const found = occurrences(
    numbered(source.derive(keys), more(wanted)),
    numbered(wanted, (line) => line),
    most,
  )
  const [starts, texts] = [source.derive(lineStarts), source.derive(linesOf)]
  return found.map((first) => {
    const last = first + wanted.length - 1
    const end = (starts[last] as number) + (texts[last] as string).length
    return { start: starts[first] as number, end: endsLine && end < source.text.length ? end + 1 : end }
  })
}

/** The engine's own search is faster for short texts, but quadratic for long repetitive ones. */
const SHORT = 250

export function textOccurrences(source: Source, wanted: string, most: number): number[] {
  if (wanted.length > SHORT) return occurrences(source.derive(units), unitsOf(wanted), most)
  const { text } = source
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1 && found.length < most; at = text.indexOf(wanted, at + 1)) found.push(at)
  return found
}

const unitsOf = (text: string): Uint16Array => {
  const { buffer, byteOffset } = Buffer.from(text, 'utf16le')
  return new Uint16Array(buffer.slice(byteOffset, byteOffset + text.length * 2))
}
const units = ({ text }: Source): Uint16Array => unitsOf(text)

type Numbers = Uint16Array | Int32Array

/** Knuth–Morris–Pratt search. Finds overlapping occurrences in linear time. */
export function occurrences(sequence: Numbers, wanted: Numbers, most: number): number[] {
  const found: number[] = []
  if (wanted.length === 0) return found
  const border = borders(wanted)
  let matched = 0
  for (let at = 0; at < sequence.length && found.length < most; at++) {
    while (matched > 0 && (matched === wanted.length || sequence[at] !== wanted[matched])) matched = border[matched - 1] as number
    if (sequence[at] === wanted[matched]) matched++
    if (matched === wanted.length) found.push(at + 1 - matched)
  }
  return found
}

/** For each prefix of the sequence: the length of its longest proper prefix that is also a suffix. */
function borders(wanted: Numbers): Int32Array {
  const border = new Int32Array(wanted.length)
  let length = 0
  for (let at = 1; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = border[length - 1] as number
    if (wanted[at] === wanted[length]) length++
    border[at] = length
  }
  return border
}
