/**
 * What a line is worth: whether it states something that the other lines do not. Nothing is worth much by itself: where every
 * line has an id and a number, ids and numbers say nothing, and lines that differ in their numbers only are bulk.
 */

export interface Traits {
  /** The line without its numbers: lines of a listing have the same. */
  readonly shape: string
  readonly words: readonly string[]
  /** Which of {@link FEATURES} it has. */
  readonly features: readonly number[]
  /** What another text would have in it that speaks of the same: ids, numbers, long names. */
  readonly marks: readonly string[]
}

interface Feature {
  readonly pattern: RegExp
  readonly worth: number
}

const FEATURES: readonly Feature[] = [
  // An id: letters and digits in one, or capitals with a dash.
  { worth: 2, pattern: /[\p{L}_.-]\d|\d[\p{L}_]|\b[A-Z][A-Z0-9]*[-_][A-Z0-9]/u },
  // It says what something is.
  { worth: 1.5, pattern: /[\p{L}\p{N}"'`\])][ \t]*(?::(?!:)|=|=>|->|→)[ \t]*\S|\b(?:is|are|was|were|has|have|will|ist|sind|hat)\b/u },
  { worth: 1, pattern: /[\w+-]@[\w-]+\.\w|https?:\/\/|\w\/[\w.-]+\.\w|\d\.\d+\.\d/ },
  { worth: 1, pattern: /\d{3}|\d[.,:]\d|\d ?(?:%|€|\$|ms|s|h|min|kB|MB|GB|km|kg|days?|hours?|weeks?)\b|[$€£]\s?\d/ },
  {
    worth: 1.5,
    pattern:
      /\b(?:remember|note|important|facts?|pass(?:word|phrase)s?|secrets?|codes?|keys?|tokens?|deadlines?|due|must|never|always|only|decided|decision|chosen|agreed|because|cause|prefers?|wants?|budget|owner|port|address|phone|called|contact|limit|quota|rule|policy|error|failed|failure|warning|todo|fixme|wichtig)\b/i,
  },
  // A name.
  { worth: 0.7, pattern: /\p{Ll}[,;]? \p{Lu}\p{Ll}|\b\p{Lu}{3,}\b/u },
  // Source code can be read again.
  {
    worth: -1.5,
    pattern: /[;{},]$|^[})\]]|^(?:import|export|const|let|var|return|if|for|while|function|class|def|#include)\b|^(?:\/\/|\/\*|\*)/,
  },
  { worth: -1.5, pattern: /\w\([^)]*\)|=>|[!=]==|&&|\|\||\?\?|\.\.\.\w|\$\{/ },
]
/** As tools number the lines of a file. */
const LINE_NUMBER = /^\s*\d+(?:\t|\s?[|│:]\s)\s*/
/** What is in every line is worth nothing; what is in one of a hundred or fewer, all that it can be. */
const RARE_ENOUGH = 2

const MAX_WORDS = 24
const MAX_MARKS = 6
const MAX_SHAPE = 160

export function traitsOf(whole: string): Traits {
  const line = whole.replace(LINE_NUMBER, '')
  const shape = shapeOf(line)
  return {
    shape,
    words: [...new Set((shape.match(/\p{L}[\p{L}']{2,}/gu) ?? []).flatMap(inWords))].slice(0, MAX_WORDS),
    features: FEATURES.flatMap(({ pattern }, at) => (pattern.test(line) ? [at] : [])),
    marks: marksOf(line),
  }
}

/** Chinese and Japanese have no spaces: two characters are about a word. */
const inWords = (run: string): readonly string[] =>
  /[\u2e80-\uabff]/.test(run) ? Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)) : [run]

/** A line in whatever letters without its numbers, ids and hashes; the names before a number stay. */
function shapeOf(line: string): string {
  const shape = line.slice(0, MAX_SHAPE).toLowerCase()
  return /\d/.test(shape) ? shape.replace(/\p{L}*\d[\p{L}\d]*/gu, '0') : shape
}

/** What a later text is looked through for: not what every text has. */
export const marksOf = (text: string, most = MAX_MARKS): readonly string[] =>
  (text.match(/[\p{L}\p{N}_@][\p{L}\p{N}_@./:-]{3,}[\p{L}\p{N}_]/gu) ?? [])
    .filter((mark) => /\d|[@_/:-]|\p{Ll}\p{Lu}|\p{Lu}{3}/u.test(mark))
    .slice(0, most)

/** How often shapes, words and features have been seen. Bounded: what was seen once is forgotten first. */
export interface Frequency {
  readonly add: (traits: Traits) => void
  /** From about -12, of a long listing, to 12. */
  readonly worth: (traits: Traits) => number
  /** So many lines differ in their numbers only that this one is one of a listing. */
  readonly isBulk: (traits: Traits) => boolean
}

const MAX_ENTRIES = 50_000
const WORDS = 4
/** A word that nothing else has. */
const NEW = 0.95
const NEW_WORD = 0.5
const MAX_NEW = 4
const REPEATED = 12
const BULK = 20

export function createFrequency(): Frequency {
  const shapes = new Map<string, number>()
  const words = new Map<string, number>()
  const features = FEATURES.map(() => 0)
  let lines = 0

  function add({ shape, words: its, features: has }: Traits): void {
    lines++
    count(shapes, shape)
    for (const word of its) count(words, word)
    for (const feature of has) features[feature] = (features[feature] ?? 0) + 1
  }

  function worth({ shape, words: its, features: has }: Traits): number {
    const all = Math.log(lines + 2)
    const rarity = (times: number): number => 1 - Math.log(times + 1) / all
    let sum = 0
    let news = 0
    for (const word of its) {
      const rare = rarity((words.get(word) ?? 1) - 1)
      sum += rare
      if (rare > NEW) news++
    }
    let score = its.length === 0 ? 0 : (WORDS * sum) / its.length + NEW_WORD * Math.min(MAX_NEW, news)
    for (const feature of has) score += (FEATURES[feature]?.worth ?? 0) * Math.min(1, RARE_ENOUGH * rarity(features[feature] ?? 0))
    const repeated = Math.log(shapes.get(shape) ?? 1) / all
    return score - REPEATED * repeated * repeated
  }

  return { add, worth, isBulk: ({ shape }) => (shapes.get(shape) ?? 0) > BULK }
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
  if (map.size <= MAX_ENTRIES) return
  for (const [one, times] of map) if (times === 1) map.delete(one)
  // Nothing came twice: the oldest half goes.
  if (map.size > MAX_ENTRIES / 2) for (const one of [...map.keys()].slice(0, map.size - MAX_ENTRIES / 2)) map.delete(one)
}
