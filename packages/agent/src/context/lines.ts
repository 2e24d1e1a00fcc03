/** Keeps a bounded pool of lines from messages and results; a digest takes the best ones that fit. */
import { estimateText } from './estimate.ts'
import { createFrequency, marksOf, type Traits, traitsOf } from './scoring.ts'
import { copyOf, segmentsOf } from './segments.ts'

/** The source of a line. */
export type Source = 'user' | 'model' | 'result'

export interface Line {
  readonly text: string
  readonly source: Source
  /** The label of its text in the digest. */
  readonly label: string
  /** The number of its text, from 0, and its position there. */
  readonly from: number
  readonly at: number
  readonly tokens: number
}

interface Candidate extends Line {
  readonly traits: Traits
  readonly labelTokens: number
  /** Number of texts with other labels that also contain it. */
  readonly elsewhere: number
  /** Bonus for its source and its position in the text. */
  readonly bonus: number
}

export interface TextOf {
  readonly source: Source
  readonly label: string
  /** Added to the score of each line. Default 0. */
  readonly bonus?: number
}

export type Lines = ReturnType<typeof createLines>

/** Maximum lines of one text that are examined, and kept. */
const MAX_READ = 4000
const MAX_OF_TEXT = 24
/** Maximum lines kept in total, by source. */
const MAX_LINES: Readonly<Record<Source, number>> = { user: 2000, model: 800, result: 1200 }
const MAX_MENTIONS = 20_000
/** Maximum characters of a text that are searched for names. */
const MAX_MENTIONING = 4000
const MENTIONED = 1.5
/** Penalty for a line that many texts contain. */
const ELSEWHERE = 1.5
/** Tokens of a line in addition to its words. */
const AROUND = 3
/** Maximum characters of a label. */
export const MAX_LABEL = 100
/** Tokens of a line that cost one point of its score: long lines must be good. */
const LONG = 18

export function createLines() {
  const frequency = createFrequency()
  const pools: Record<Source, Map<string, Candidate>> = { user: new Map(), model: new Map(), result: new Map() }
  /** The latest text that contains each name. */
  const mentions = new Map<string, number>()
  let texts = 0

  /** Adds the lines of a text. @returns the number of the text */
  function add(text: string, { source, label, bonus = 0 }: TextOf): number {
    const from = texts++
    const labelTokens = label === '' ? 0 : estimateText(label.slice(0, MAX_LABEL)) + AROUND
    const segments = segmentsOf(text, MAX_READ).map((segment, at) => ({ segment, at, traits: traitsOf(segment) }))
    const pool = pools[source]
    for (const { segment, traits } of segments) if (!pool.has(segment)) frequency.add(traits)
    const short = segments.length <= 3 ? 0.7 : 0
    const edge = (at: number): number => (at === 0 || at === segments.length - 1 ? 0.3 : 0)
    const made = segments.map(
      ({ segment, at, traits }): Candidate => ({
        text: segment,
        source,
        label,
        from,
        at,
        tokens: 0,
        traits,
        labelTokens,
        elsewhere: 0,
        bonus: bonus + short + edge(at),
      }),
    )
    const most = source === 'user' ? made.length : MAX_OF_TEXT
    for (const one of ranked(made).slice(0, most)) {
      const tokens = estimateText(one.text) + AROUND
      // Seen before: it moves to its latest position and keeps its bonus.
      const before = pool.get(one.text)
      pool.delete(one.text)
      const elsewhere = before ? before.elsewhere + (before.label === label ? 0 : 1) : 0
      pool.set(one.text, { ...one, tokens, elsewhere, bonus: Math.max(one.bonus, before?.bonus ?? one.bonus) })
    }
    if (pool.size > MAX_LINES[source]) for (const one of ranked([...pool.values()]).slice(MAX_LINES[source] >> 1)) pool.delete(one.text)
    return from
  }

  /** Marks the names in this text as used: earlier lines that contain them score higher. */
  function mention(text: string): void {
    for (const mark of marksOf(copyOf(text.slice(0, MAX_MENTIONING)), MAX_MENTIONING)) mentions.set(mark, texts)
    if (mentions.size > MAX_MENTIONS) for (const one of [...mentions.keys()].slice(0, MAX_MENTIONS >> 1)) mentions.delete(one)
  }

  const scoreOf = ({ traits, bonus, from, tokens, elsewhere }: Candidate): number => {
    const used = traits.marks.some((mark) => (mentions.get(mark) ?? -1) > from) ? MENTIONED : 0
    return frequency.worth(traits) + bonus + used - tokens / LONG - ELSEWHERE * Math.log2(1 + elsewhere)
  }
  const isBulk = (one: Candidate): boolean => frequency.isBulk(one.traits) && scoreOf(one) < 0
  const ranked = (candidates: readonly Candidate[]): readonly Candidate[] =>
    candidates
      .map((one) => ({ one, score: scoreOf(one) }))
      .sort((a, b) => b.score - a.score || a.one.from - b.one.from || a.one.at - b.one.at)
      .map(({ one }) => one)

  /** Returns the best lines of these sources within `budget` tokens, in their original order; none from the text `except`. */
  function best(sources: readonly Source[], budget: number, except = -1): readonly Line[] {
    let left = budget
    const taken: Line[] = []
    const labels = new Set<string>()
    for (const one of ranked(sources.flatMap((source) => [...pools[source].values()]))) {
      const tokens = one.tokens + (labels.has(one.label) ? 0 : one.labelTokens)
      if (tokens > left || one.from === except || (isBulk(one) && one.source !== 'user')) continue
      left -= tokens
      labels.add(one.label)
      taken.push(one)
    }
    return taken.sort((a, b) => a.from - b.from || a.at - b.at)
  }

  return { add, mention, best }
}
