/** Edits to a text: all of them, or the reason why none. Pure. */
import { type Match, STRATEGIES, type Strategy } from './match/index.ts'
import { type Flat, flatten, withNewlines } from './newlines.ts'

export interface Edit {
  readonly old_text: string
  readonly new_text: string
  readonly replace_all: boolean
}

export type Problem =
  | { readonly kind: 'empty' | 'same' | 'none' }
  /** Lines, from 1, on which the old text begins. */
  | { readonly kind: 'several'; readonly lines: readonly number[] }
  | { readonly kind: 'overlap'; readonly other: number }

export interface Applied {
  readonly edit: number
  readonly strategy: Strategy
  /** Lines, from 1, of the original text. */
  readonly lines: readonly number[]
}

export type Plan =
  | { readonly ok: true; readonly text: string; readonly applied: readonly Applied[] }
  | { readonly ok: false; readonly edit: number; readonly problem: Problem }

interface Placed extends Match {
  readonly edit: number
}

/** What an edit comes to in a text. */
type Found = { readonly strategy: Strategy; readonly matches: readonly Match[] } | Problem

/**
 * Finds every edit in the text as it is. Where that fails, the edits are tried one upon the other, because a later one may
 * be for text that an earlier one brings in.
 */
export function plan(text: string, edits: readonly Edit[], strategies: readonly Strategy[] = STRATEGIES): Plan {
  const together = atOnce(text, edits, strategies)
  if (together.ok || edits.length < 2) return together
  let current = text
  const applied: Applied[] = []
  for (const [index, edit] of edits.entries()) {
    const step = atOnce(current, [edit], strategies)
    if (!step.ok) return together
    current = step.text
    applied.push(...step.applied.map((one) => ({ ...one, edit: index })))
  }
  return { ok: true, text: current, applied }
}

function atOnce(text: string, edits: readonly Edit[], strategies: readonly Strategy[]): Plan {
  const flat = flatten(text)
  const placed: Placed[] = []
  const applied: Applied[] = []
  for (const [index, edit] of edits.entries()) {
    const found = locate(flat.text, edit, strategies)
    if ('kind' in found) return { ok: false, edit: index, problem: found }
    placed.push(...found.matches.map((match) => ({ ...match, edit: index })))
    applied.push({ edit: index, strategy: found.strategy, lines: linesAt(flat.text, found.matches) })
  }
  placed.sort((a, b) => a.start - b.start || a.end - b.end)
  for (const [at, match] of placed.entries()) {
    const before = placed[at - 1]
    if (before && before.end > match.start)
      return { ok: false, edit: Math.max(before.edit, match.edit), problem: { kind: 'overlap', other: Math.min(before.edit, match.edit) } }
  }
  return { ok: true, text: splice(text, flat, placed), applied }
}

function locate(text: string, { old_text, new_text, replace_all }: Edit, strategies: readonly Strategy[]): Found {
  const [before, after] = [withNewlines(old_text, '\n'), withNewlines(new_text, '\n')]
  if (before === '') return { kind: 'empty' }
  if (before === after) return { kind: 'same' }
  for (const strategy of strategies) {
    const matches = strategy.find(text, before, after)
    if (matches.length === 0) continue
    if (matches.length > 1 && !replace_all) return { kind: 'several', lines: linesAt(text, matches) }
    return { strategy, matches: withoutOverlap(matches) }
  }
  return { kind: 'none' }
}

/** From the left, as a search and replace would. */
function withoutOverlap(matches: readonly Match[]): Match[] {
  const kept: Match[] = []
  for (const match of matches) if (match.start >= (kept.at(-1)?.end ?? 0)) kept.push(match)
  return kept
}

function splice(text: string, flat: Flat, placed: readonly Placed[]): string {
  let result = ''
  let from = 0
  for (const { start, end, replacement } of placed) {
    result += text.slice(from, flat.original(start)) + withNewlines(replacement, flat.newline(start, end))
    from = flat.original(end)
  }
  return result + text.slice(from)
}

/** The line of each match; they come in order, so the text is counted through once. */
function linesAt(text: string, matches: readonly Match[]): number[] {
  let line = 1
  let at = 0
  return matches.map(({ start }) => {
    for (let next = text.indexOf('\n', at); next !== -1 && next < start; next = text.indexOf('\n', at)) {
      line++
      at = next + 1
    }
    return line
  })
}
