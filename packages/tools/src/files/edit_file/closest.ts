/** The part of a text that is most like one that is not in it. Pure. */
import { likenessTo } from './alike.ts'

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
const LEAST_CLEAR = 0.5
const MAX_CANDIDATES = 50
/** Of a text this is compared; the rest goes with it. */
const COMPARED_LINES = 200
/** A line that is there more often says nothing about the place. */
const COMMON = 100

export function closestRegion(text: string, wanted: string): Region | undefined {
  const lines = text.split('\n')
  const want = wanted.replace(/\n$/, '').split('\n')
  const likeness = likenessOf(want)
  let best: { start: number; score: number } | undefined
  let next = 0
  for (const start of candidates(lines, want)) {
    const score = likeness(lines, start)
    const apart = best && Math.abs(best.start - start) >= want.length
    if (!best || score > best.score) {
      if (best && apart) next = Math.max(next, best.score)
      best = { start, score }
    } else if (apart) next = Math.max(next, score)
  }
  if (!best || best.score < LEAST) return undefined
  const region = lines.slice(best.start, best.start + want.length)
  const differing = want.findIndex((line, at) => line.trim() !== region[at]?.trim())
  const index = Math.max(0, differing === -1 ? want.findIndex((line, at) => line !== region[at]) : differing)
  return {
    line: best.start + 1,
    lines: region,
    differs: { line: best.start + index + 1, wanted: want[index] ?? '', found: region[index] ?? '' },
    clear: best.score >= LEAST_CLEAR && best.score - next >= LEAD,
  }
}

/** Where the region may begin: by lines that are there as they are, else by the lines most like the longest one. */
function candidates(lines: readonly string[], want: readonly string[]): number[] {
  const clamp = (start: number): number => Math.max(0, Math.min(start, lines.length - want.length))
  const votes = new Map<number, number>()
  for (const [index, places] of samePlaces(lines, want))
    for (const at of places) votes.set(clamp(at - index), (votes.get(clamp(at - index)) ?? 0) + 1)
  if (votes.size > 0)
    return [...votes]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_CANDIDATES)
      .map(([start]) => start)
  const anchor = want.reduce((best, line, at) => (line.trim().length > (want[best] as string).trim().length ? at : best), 0)
  return mostLike(lines, (want[anchor] as string).trim()).map((at) => clamp(at - anchor))
}

/** For lines of the old text that are in the file, and say something: where they are. */
function samePlaces(lines: readonly string[], want: readonly string[]): (readonly [number, readonly number[]])[] {
  const indexes = new Map<string, number>()
  for (const [index, line] of want.entries()) if (line.trim().length > 2 && !indexes.has(line.trim())) indexes.set(line.trim(), index)
  const places = new Map<number, number[]>()
  for (const [at, line] of lines.entries()) {
    const index = indexes.get(line.trim())
    if (index === undefined) continue
    const known = places.get(index)
    if (!known) places.set(index, [at])
    else if (known.length <= COMMON) known.push(at)
  }
  return [...places].filter(([, known]) => known.length <= COMMON)
}

function mostLike(lines: readonly string[], anchor: string): number[] {
  const likeness = likenessTo(anchor)
  const best: { at: number; score: number }[] = []
  for (const [at, line] of lines.entries()) {
    const score = likeness(line.trim())
    if (score < LEAST / 2) continue
    best.push({ at, score })
    if (best.length >= MAX_CANDIDATES * 2) best.sort((a, b) => b.score - a.score).splice(MAX_CANDIDATES)
  }
  return best
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_CANDIDATES)
    .map(({ at }) => at)
}

function likenessOf(want: readonly string[]): (lines: readonly string[], start: number) => number {
  const wanted = want.slice(0, COMPARED_LINES).map((line) => ({
    weight: Math.max(1, Math.min(line.trim().length, 80)),
    likeness: likenessTo(line.trim()),
  }))
  const total = wanted.reduce((sum, { weight }) => sum + weight, 0)
  return (lines, start) =>
    wanted.reduce((sum, { weight, likeness }, at) => sum + weight * likeness((lines[start + at] ?? '').trim()), 0) / total
}
