/** Applies edits to a text: all of them, or reports why not. Pure. */
import { type Place, type Source, type Strategy, sourceOf } from './match/find.ts'
import { STRATEGIES } from './match/strategies.ts'
import { flatten, flattened } from './newlines.ts'

export interface Edit {
  readonly old_text: string
  readonly new_text: string
  readonly replace_all: boolean
}

export type Problem =
  | { readonly kind: 'empty' | 'same' | 'none' | 'unchanged' }
  /** Line numbers, from 1, where the old text begins; only the first ones if there are `more`. */
  | { readonly kind: 'several'; readonly lines: readonly number[]; readonly more: boolean; readonly strategy: Strategy }
  /** More places than are replaced in one call. */
  | { readonly kind: 'many'; readonly most: number }
  | { readonly kind: 'overlap'; readonly other: number }

export interface Applied {
  readonly edit: number
  readonly strategy: Strategy
  /** Line numbers in the original text, from 1. */
  readonly lines: readonly number[]
}

export type Plan =
  | { readonly ok: true; readonly text: string; readonly applied: readonly Applied[] }
  | { readonly ok: false; readonly edit: number; readonly problem: Problem }

interface Placed extends Place {
  readonly edit: number
  readonly replacement: string
}

/** Result of an edit for a text. */
type Found = { readonly strategy: Strategy; readonly placed: readonly Placed[] } | Problem

/** Places counted individually before the rest is reported as "more". */
const MAX_TOLD = 1000
const MAX_REPLACED = 100_000

/**
 * Finds every edit in the original text. If that fails, or the text is empty, applies the edits one after another, because a later edit may
 * be for text that an earlier one adds.
 */
export function plan(text: string, edits: readonly Edit[], strategies: readonly Strategy[] = STRATEGIES): Plan {
  const together = text === '' && edits.length > 1 ? undefined : atOnce(text, edits, strategies)
  if (together && (together.ok || edits.length < 2 || together.problem.kind === 'many')) return together
  let current = text
  const applied: Applied[] = []
  for (const [index, edit] of edits.entries()) {
    const step = atOnce(current, [edit], strategies)
    if (!step.ok) return together ?? { ...step, edit: index }
    current = step.text
    applied.push(...step.applied.map((one) => ({ ...one, edit: index })))
  }
  return { ok: true, text: current, applied }
}

function atOnce(text: string, edits: readonly Edit[], strategies: readonly Strategy[]): Plan {
  const flat = flatten(text)
  const source = sourceOf(flat.text)
  const placed: Placed[] = []
  const applied: Applied[] = []
  for (const [index, edit] of edits.entries()) {
    const found = locate(source, edit, index, strategies)
    if ('kind' in found) return { ok: false, edit: index, problem: found }
    placed.push(...found.placed)
    applied.push({ edit: index, strategy: found.strategy, lines: linesAt(flat.text, found.placed) })
  }
  placed.sort((a, b) => a.start - b.start || a.end - b.end)
  const parts: string[] = []
  let from = 0
  for (const [at, { edit, start, end, replacement }] of placed.entries()) {
    const before = placed[at - 1]
    if (before && before.end > start)
      return { ok: false, edit: Math.max(before.edit, edit), problem: { kind: 'overlap', other: Math.min(before.edit, edit) } }
    parts.push(text.slice(from, flat.original(start)), flat.ended(start, end, replacement))
    from = flat.original(end)
  }
  const result = parts.join('') + text.slice(from)
  return result === text ? { ok: false, edit: 0, problem: { kind: 'unchanged' } } : { ok: true, text: result, applied }
}

function locate(source: Source, { old_text, new_text, replace_all }: Edit, edit: number, strategies: readonly Strategy[]): Found {
  const [before, after] = [flattened(old_text), flattened(new_text)]
  if (before === after) return { kind: 'same' }
  const [first] = strategies
  if (before === '')
    return source.text === '' && first ? { strategy: first, placed: [{ edit, start: 0, end: 0, replacement: after }] } : { kind: 'empty' }
  const most = replace_all ? MAX_REPLACED : MAX_TOLD
  for (const strategy of strategies) {
    const places = strategy.find(source, before, most + 1)
    if (places.length > 1 && !replace_all)
      return { kind: 'several', lines: linesAt(source.text, places.slice(0, most)), more: places.length > most, strategy }
    if (places.length > most) return { kind: 'many', most }
    const apart = withoutOverlap(places)
    const placed = apart.flatMap(({ start, end }) => {
      const replacement = strategy.fit(source.text.slice(start, end), before, after)
      return replacement === undefined ? [] : [{ edit, start, end, replacement }]
    })
    if (placed.length > 0 && placed.length === apart.length) return { strategy, placed }
  }
  return { kind: 'none' }
}

/** Drops overlapping places from the left, like search and replace. */
function withoutOverlap(places: readonly Place[]): Place[] {
  const kept: Place[] = []
  for (const place of places) if (place.start >= (kept.at(-1)?.end ?? 0)) kept.push(place)
  return kept
}

/** Returns the line of each place. Places are in order, so the text is scanned once. */
function linesAt(text: string, places: readonly Place[]): number[] {
  let line = 1
  let at = 0
  return places.map(({ start }) => {
    for (let next = text.indexOf('\n', at); next !== -1 && next < start; next = text.indexOf('\n', at)) {
      line++
      at = next + 1
    }
    return line
  })
}
