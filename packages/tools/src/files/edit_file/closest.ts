/** The part of a text that is most like one that is not in it. Pure. */

export interface Region {
  /** First line, from 1. */
  readonly line: number
  readonly lines: readonly string[]
  /** The first line that differs from what was wanted, from 1 in the text; and what was wanted there. */
  readonly differs: { readonly line: number; readonly wanted: string; readonly found: string }
  /** No other region comes near it. */
  readonly clear: boolean
}

/** Regions less alike than this are no help. */
const LEAST = 0.4
/** How far ahead of the next best one a region must be. */
const LEAD = 0.15
const LEAST_CLEAR = 0.6
const MAX_CANDIDATES = 200
const MAX_COMPARED_LINES = 50_000

export function closestRegion(text: string, wanted: string): Region | undefined {
  const lines = text.split('\n')
  const want = wanted.replace(/\n$/, '').split('\n')
  const starts = candidates(lines, want)
  let best: { start: number; score: number } | undefined
  let next = 0
  for (const start of starts) {
    const score = likeness(lines, start, want)
    if (!best || score > best.score) {
      if (best && Math.abs(best.start - start) >= want.length) next = Math.max(next, best.score)
      best = { start, score }
    } else if (Math.abs(best.start - start) >= want.length) next = Math.max(next, score)
  }
  if (!best || best.score < LEAST) return undefined
  const region = lines.slice(best.start, best.start + want.length)
  const index = Math.max(
    0,
    want.findIndex((line, at) => line !== region[at]),
  )
  return {
    line: best.start + 1,
    lines: region,
    differs: { line: best.start + index + 1, wanted: want[index] ?? '', found: region[index] ?? '' },
    clear: best.score >= LEAST_CLEAR && best.score - next >= LEAD,
  }
}

/** Where the region may begin: by lines that are there as they are, else by every line. */
function candidates(lines: readonly string[], want: readonly string[]): number[] {
  const places = new Map<string, number[]>()
  for (const [index, line] of want.entries()) {
    const key = line.trim()
    if (key.length > 2) places.set(key, [...(places.get(key) ?? []), index])
  }
  const votes = new Map<number, number>()
  const clamp = (start: number): number => Math.max(0, Math.min(start, lines.length - want.length))
  for (const [at, line] of lines.entries())
    for (const index of places.get(line.trim()) ?? []) votes.set(clamp(at - index), (votes.get(clamp(at - index)) ?? 0) + 1)
  if (votes.size === 0)
    return Array.from(
      { length: Math.min(Math.max(1, lines.length - want.length + 1), Math.ceil(MAX_COMPARED_LINES / want.length)) },
      (_, at) => at,
    )
  return [...votes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_CANDIDATES)
    .map(([start]) => start)
}

function likeness(lines: readonly string[], start: number, want: readonly string[]): number {
  let sum = 0
  let weight = 0
  for (const [index, line] of want.entries()) {
    const share = Math.max(1, Math.min(line.trim().length, 80))
    sum += share * alike(line.trim(), (lines[start + index] ?? '').trim())
    weight += share
  }
  return sum / weight
}

/** How much two lines share, from 0 to 1: pairs of neighbouring characters (Sørensen–Dice). */
function alike(a: string, b: string): number {
  if (a === b) return 1
  if (a.length < 2 || b.length < 2) return 0
  const [left, right] = [a.slice(0, 500), b.slice(0, 500)]
  const pairs = new Map<string, number>()
  for (let at = 0; at < left.length - 1; at++) pairs.set(left.slice(at, at + 2), (pairs.get(left.slice(at, at + 2)) ?? 0) + 1)
  let shared = 0
  for (let at = 0; at < right.length - 1; at++) {
    const pair = right.slice(at, at + 2)
    const left = pairs.get(pair) ?? 0
    if (left > 0) {
      shared++
      pairs.set(pair, left - 1)
    }
  }
  return (2 * shared) / (left.length + right.length - 2)
}
