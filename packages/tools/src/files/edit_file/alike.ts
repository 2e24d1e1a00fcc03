/** How alike two lines are, and which part of a line is most like a text. For hints only: no edit is applied by likeness. Pure. */

const COMPARED = 500
const PAIRS = 1 << 12
const MAX_CELLS = 400_000
/** A part that takes so many more changes than the closest one may be meant in its stead: a bracket, a quote, a semicolon. */
const MORE_CHANGES = 3

const pairAt = (text: string, at: number): number => (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % PAIRS
const pairsIn = (text: string): number => Math.max(0, Math.min(text.length, COMPARED) - 1)

/** How many pairs of neighbouring characters a line shares with others, from 0 to 1 (Sørensen–Dice). Spaces around those do not count. */
export function likenessTo(line: string): (other: string) => number {
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
 * The part of a line that takes the fewest changes to become the text; the longest of them, and whole words.
 *
 * @param accepts which parts may be it. Default: all
 * @returns offsets in the line; undefined where none is accepted, or they are too long to be compared
 */
export function closestSpan(line: string, text: string, accepts: (span: Span) => boolean = () => true): Span | undefined {
  if (text === '' || line.length * text.length > MAX_CELLS) return undefined
  /** For each end in the line: the changes, and where the part begins. */
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
