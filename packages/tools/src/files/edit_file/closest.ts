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

/** Where the region may begin: by lines that are there as they are, else by the lines most like the longest one. */
function candidates(lines: readonly string[], want: readonly string[]): number[] {
  const clamp = (start: number): number => Math.max(0, Math.min(start, lines.length - want.length))
  const trimmed = want.map((line) => line.trim())
  /** The first place of each line that says something. */
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

/** A text of the model's in a message. */
export const cut = (text: string): string => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)

/** The region with its line numbers, and what differs in it. */
export function shownRegion({ line, lines, differs }: Region): string {
  const shown = lines.slice(0, SHOWN_LINES).map((one, at) => `${line + at}\t${cut(one)}`)
  const left = lines.length > SHOWN_LINES ? `\n… ${lines.length - SHOWN_LINES} more lines` : ''
  const { found, wanted } = differs
  return `Line ${differs.line} of the file is ${JSON.stringify(cut(found))}, not ${JSON.stringify(cut(wanted))}. The closest part:\n${shown.join('\n')}${left}\n`
}
