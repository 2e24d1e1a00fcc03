/**
 * Scores a line by whether it states something the other lines do not. No feature is worth much by itself: if every line has an id and
 * a number, these say nothing, and lines that differ only in their numbers are bulk.
 */

export interface Traits {
  /** The line without its numbers; the lines of a listing share one shape. */
  readonly shape: string
  readonly words: readonly string[]
  /** The indexes of its {@link FEATURES}. */
  readonly features: readonly number[]
  /** Strings that another text about the same thing would contain: ids, numbers, long names. */
  readonly marks: readonly string[]
}

interface Feature {
  readonly pattern: RegExp
  readonly worth: number
}

const FEATURES: readonly Feature[] = [
  // An id: letters mixed with digits, or capitals with a dash.
  { worth: 2, pattern: /[\p{L}_.-]\d|\d[\p{L}_]|\b[A-Z][A-Z0-9]*[-_][A-Z0-9]/u },
  // A statement of what something is.
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
/** Line numbers, as tools write them. */
const LINE_NUMBER = /^\s*\d+(?:\t|\s?[|│:]\s)\s*/
/** A feature in every line is worth nothing; a feature in at most one line in a hundred is worth its full weight. */
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

/** Splits a run into words. Chinese and Japanese have no spaces, so two characters count as a word. */
const inWords = (run: string): readonly string[] =>
  /[\u2e80-\uabff]/.test(run) ? Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)) : [run]

/** Returns the lower-cased line without numbers, ids and hashes; names before a number stay. */
function shapeOf(line: string): string {
  const shape = line.slice(0, MAX_SHAPE).toLowerCase()
  return /\d/.test(shape) ? shape.replace(/\p{L}*\d[\p{L}\d]*/gu, '0') : shape
}

/** Returns the strings to look for in later texts, leaving out common words. */
export const marksOf = (text: string, most = MAX_MARKS): readonly string[] =>
  (text.match(/[\p{L}\p{N}_@][\p{L}\p{N}_@./:-]{3,}[\p{L}\p{N}_]/gu) ?? [])
    .filter((mark) => /\d|[@_/:-]|\p{Ll}\p{Lu}|\p{Lu}{3}/u.test(mark))
    .slice(0, most)

const MAX_ENTRIES = 50_000
const WORDS = 4
/** Rarity above which a word counts as new. */
const NEW = 0.95
const NEW_WORD = 0.5
const MAX_NEW = 4
const REPEATED = 12
const BULK = 20

/** Counts shapes, words and features. Bounded: entries seen only once are dropped first. */
export function createFrequency() {
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

  /** Scores a line, from about -12 (in a long listing) to 12. */
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

  /** Returns whether a line belongs to a listing: many lines differ from it only in their numbers. */
  const isBulk = ({ shape }: Traits): boolean => (shapes.get(shape) ?? 0) > BULK

  return { add, worth, isBulk }
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
  if (map.size <= MAX_ENTRIES) return
  for (const [one, times] of map) if (times === 1) map.delete(one)
  // Too few entries were seen only once: drop the oldest half.
  if (map.size > MAX_ENTRIES / 2) for (const one of [...map.keys()].slice(0, map.size - MAX_ENTRIES / 2)) map.delete(one)
}
