/** Finds the part of a text that is most similar to a text that is not in it. Pure. */

export interface Region {
  /** First line, from 1. */
  readonly line: number
  readonly lines: readonly string[]
  /** The first line that differs from the wanted text (numbered from 1 in the text), and the line that was wanted there. */
  readonly differs: { readonly line: number; readonly wanted: string; readonly found: string }
  /** Whether no other region is nearly as similar. */
  readonly clear: boolean
}

/** Less similar regions are of no help. */
const LEAST = 0.4
/** Minimum lead over the next best region. */
const LEAD = 0.15
const LEAST_CLEAR = 0.5
const MAX_CANDIDATES = 50
/** Only this many lines of the wanted text are compared. */
const COMPARED_LINES = 200
/** Lines that occur more often do not identify a place. */
const COMMON = 100

export function closestRegion(text: string, wanted: string): Region | undefined {
  const lines = text.split('\n')
  const want = wanted.replace(/\n$/, '').split('\n')
  const likeness = likenessOf(want)
  let closest: { start: number; score: number } | undefined
  let next = 0
  for (const start of candidates(lines, want)) {
    const score = likeness(lines, start)
    const apart = closest && Math.abs(closest.start - start) >= want.length
    if (!closest || score > closest.score) {
      if (closest && apart) next = Math.max(next, closest.score)
      closest = { start, score }
    } else if (apart) next = Math.max(next, score)
  }
  if (!closest || closest.score < LEAST) return undefined
  const region = lines.slice(closest.start, closest.start + want.length)
  const differing = want.findIndex((line, at) => line.trim() !== region[at]?.trim())
  const index = Math.max(0, differing === -1 ? want.findIndex((line, at) => line !== region[at]) : differing)
  return {
    line: closest.start + 1,
    lines: region,
    differs: { line: closest.start + index + 1, wanted: want[index] ?? '', found: region[index] ?? '' },
    clear: closest.score >= LEAST_CLEAR && closest.score - next >= LEAD,
  }
}

/** Returns where the region may begin: by lines that occur unchanged, otherwise by the lines most similar to the longest one. */
function candidates(lines: readonly string[], want: readonly string[]): number[] {
  const clamp = (start: number): number => Math.max(0, Math.min(start, lines.length - want.length))
  const trimmed = want.map((line) => line.trim())
  /** First position of each distinctive line. */
  const indexes = new Map(trimmed.map((line, index): [string, number] => [line, index]).reverse())
  const votes = new Map<number, number>()
  for (const [line, places] of Map.groupBy(lines.keys(), (at) => (lines[at] as string).trim())) {
    const index = line.length > 2 ? indexes.get(line) : undefined
    if (index === undefined || places.length > COMMON) continue
    for (const start of places.map((at) => clamp(at - index))) votes.set(start, (votes.get(start) ?? 0) + 1)
  }
  if (votes.size > 0) return best([...votes])
  const anchor = trimmed.reduce((longest, line, at) => (line.length > (trimmed[longest] as string).length ? at : longest), 0)
  const likeness = likenessTo(trimmed[anchor] as string)
  const scores = lines.map((line, at): [number, number] => [at, likeness(line.trim())])
  return best(scores.filter(([, score]) => score >= LEAST / 2)).map((at) => clamp(at - anchor))
}

const best = (scores: [start: number, score: number][]): number[] =>
  scores
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_CANDIDATES)
    .map(([start]) => start)

function likenessOf(want: readonly string[]): (lines: readonly string[], start: number) => number {
  const wanted = want.slice(0, COMPARED_LINES).map((line) => ({
    weight: Math.max(1, Math.min(line.trim().length, 80)),
    likeness: likenessTo(line.trim()),
  }))
  const total = wanted.reduce((sum, { weight }) => sum + weight, 0)
  return (lines, start) =>
    wanted.reduce((sum, { weight, likeness }, at) => sum + weight * likeness((lines[start + at] ?? '').trim()), 0) / total
}

const SHOWN_LINES = 20
const SHOWN_CHARS = 200

/** Shortens a text for an error message. */
export const cut = (text: string): string => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)

/** Formats the region with line numbers and its first difference. */
export function shownRegion({ line, lines, differs }: Region): string {
  const shown = lines.slice(0, SHOWN_LINES).map((one, at) => `${line + at}\t${cut(one)}`)
  const left = lines.length > SHOWN_LINES ? `\n… ${lines.length - SHOWN_LINES} more lines` : ''
  const { found, wanted } = differs
  return `Line ${differs.line} of the file is ${JSON.stringify(cut(found))}, not ${JSON.stringify(cut(wanted))}. The closest part:\n${shown.join('\n')}${left}\n`
}

const COMPARED = 500
const PAIRS = 1 << 12
const MAX_CELLS = 400_000
/** A part that needs up to this many more changes than the closest one may be the intended one: a bracket, a quote, a semicolon. */
const MORE_CHANGES = 3

const pairAt = (text: string, at: number): number => (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % PAIRS
const pairsIn = (text: string): number => Math.max(0, Math.min(text.length, COMPARED) - 1)

/**
 * Returns a function that computes the share of neighbouring character pairs a line has in common with another, from 0 to 1
 * (Sørensen–Dice). Surrounding spaces are ignored.
 */
function likenessTo(line: string): (other: string) => number {
  const counts = new Int32Array(PAIRS)
  const tally = (text: string, by: 1 | -1): number => {
    let counted = 0
    for (let at = 0; at < pairsIn(text); at++) {
      const pair = pairAt(text, at)
      if ((counts[pair] as number) > 0) counted++
      counts[pair] = (counts[pair] as number) + by
    }
    return counted
  }
  tally(line, 1)
  return (other) => {
    const text = other.trim()
    if (other === line || pairsIn(line) === 0 || pairsIn(text) === 0) return other === line ? 1 : 0
    const shared = tally(text, -1)
    tally(text, 1)
    return (2 * shared) / (pairsIn(line) + pairsIn(text))
  }
}

export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Returns the part of a line that needs the fewest changes to become the text, preferring the longest one and whole words.
 *
 * @param accepts which parts are acceptable. Default: all
 * @returns offsets in the line; undefined if none is acceptable, or if the texts are too long to compare
 */
export function closestSpan(line: string, text: string, accepts: (span: Span) => boolean = () => true): Span | undefined {
  if (text === '' || line.length * text.length > MAX_CELLS) return undefined
  /** For each end position in the line: the number of changes, and where the part begins. */
  let costs = new Array<number>(line.length + 1).fill(0)
  let starts = Array.from({ length: line.length + 1 }, (_, at) => at)
  for (let row = 1; row <= text.length; row++) {
    const nextCosts = [row]
    const nextStarts = [0]
    for (let at = 1; at <= line.length; at++) {
      const replaced = (costs[at - 1] as number) + (line[at - 1] === text[row - 1] ? 0 : 1)
      const dropped = (costs[at] as number) + 1
      const added = (nextCosts[at - 1] as number) + 1
      const least = Math.min(replaced, dropped, added)
      nextCosts.push(least)
      nextStarts.push((least === replaced ? starts[at - 1] : least === dropped ? starts[at] : nextStarts[at - 1]) as number)
    }
    costs = nextCosts
    starts = nextStarts
  }
  const most = Math.min(...costs) + MORE_CHANGES
  const spans = costs
    .map((cost, end) => ({ cost, end }))
    .sort((a, b) => a.cost - b.cost || b.end - a.end)
    .map(({ end }) => wholeWords(line, starts[end] as number, end))
  return spans.find((span, at) => (at === 0 || (costs[span.end] as number) <= most) && accepts(span))
}

function wholeWords(line: string, start: number, end: number): Span {
  const within = (at: number): boolean => /\w/.test(line[at - 1] ?? '') && /\w/.test(line[at] ?? '')
  while (within(start)) start--
  while (within(end)) end++
  return { start, end }
}

const CLOSED_BY: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const CLOSERS = Object.values(CLOSED_BY)
const QUOTES = ['"', "'", '`']

/** Returns true if one text can replace the other without losing a bracket or quote. */
export const sameBalance = (one: string, other: string): boolean => balance(one) === balance(other)

/** Returns the brackets that a text closes without opening and those it leaves open (`}{` for `} else {`), then its unpaired quotes. */
function balance(text: string): string {
  const left: string[] = []
  const odd = new Set<string>()
  for (const sign of text.replaceAll(/(?<=\w)'(?=\w)/g, '')) {
    const open = left.at(-1)
    if (sign in CLOSED_BY) left.push(sign)
    else if (CLOSERS.includes(sign)) {
      if (open !== undefined && CLOSED_BY[open] === sign) left.pop()
      else left.push(sign)
    } else if (QUOTES.includes(sign) && !odd.delete(sign)) odd.add(sign)
  }
  return left.join('') + QUOTES.filter((quote) => odd.has(quote)).join('')
}

/** Returns true if both texts end in a word, or in the same sign. */
export const sameEnding = (one: string, other: string): boolean => ending(one) === ending(other)

const ending = (text: string): string => (text.trimEnd().at(-1) ?? '').replace(/[\p{L}\p{N}_]/u, 'a')
