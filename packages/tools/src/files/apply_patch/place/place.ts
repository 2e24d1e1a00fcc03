/** Where each hunk goes in a text: all of them, or the reason why one does not. Pure. */
import { type Hunk, type HunkLine, newLines, oldLines } from '../format/patch.ts'
import { type LineIndex, lineIndex, PASSES, type Pass, TooMuchWork } from './line-index.ts'

export interface Placed {
  readonly hunk: Hunk
  /** From 0. */
  readonly start: number
  /** Lines of the text that it covers. */
  readonly count: number
  /** Of the hunk, without blank lines at its end that are not in the text. */
  readonly lines: readonly HunkLine[]
  readonly pass: Pass
  /** It would have fitted further down as well. */
  readonly further: boolean
}

/** Lines are from 1. */
export type Problem =
  /** The old lines, or a text after `@@`, are nowhere below the hunk before. */
  | { readonly kind: 'missing'; readonly wanted: readonly string[]; readonly context: boolean; readonly from: number }
  | { readonly kind: 'several'; readonly lines: readonly number[]; readonly context: boolean }
  | { readonly kind: 'above' | 'not_last' | 'applied'; readonly lineInFile: number }
  | { readonly kind: 'past_end'; readonly length: number }
  | { readonly kind: 'too_much' }

export type Placement =
  | { readonly ok: true; readonly placed: readonly Placed[] }
  | { readonly ok: false; readonly hunk: Hunk; readonly problem: Problem }

const EXACT = PASSES[0] as Pass
const SHOWN_PLACES = 10
/** Characters of new lines. */
const LEAST_TELLING = 4

export function placeHunks(lines: readonly string[], hunks: readonly Hunk[]): Placement {
  const index = lineIndex(lines)
  const placed: Placed[] = []
  /** The first line below the hunks so far. */
  let from = 0
  /** How far off the line numbers of a unified diff have been. */
  let drift = 0
  for (const hunk of hunks)
    try {
      const found = placeOne(index, hunk, from, drift)
      if ('kind' in found) return { ok: false, hunk, problem: found }
      placed.push(found)
      if (hunk.at !== undefined) drift = found.start - hunk.at
      if (found.count > 0 || found.start < index.length) from = found.start + found.count
    } catch (error) {
      if (error instanceof TooMuchWork) return { ok: false, hunk, problem: { kind: 'too_much' } }
      throw error
    }
  // New lines alone go to the end of the file, whichever hunk comes after.
  return { ok: true, placed: placed.sort((a, b) => a.start - b.start) }
}

function placeOne(index: LineIndex, hunk: Hunk, from: number, drift: number): Placed | Problem {
  const anchor = below(index, hunk.contexts, from)
  if (typeof anchor === 'object') return anchor
  const after = anchor === undefined ? from : anchor + 1
  const old = oldLines(hunk).map(({ text }) => text)
  if (old.length === 0) return insertion(index, hunk, anchor, from, drift)
  for (const lines of variants(hunk)) {
    const wanted = lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text)
    const found = seek(index, hunk, wanted, { after, anchor, drift })
    if (found && 'kind' in found) return found
    if (found) return { hunk, count: wanted.length, lines, ...found }
  }
  return whyNot(index, hunk, old, after)
}

/** The line of the last text after `@@`, each looked for below the one before it. */
function below(index: LineIndex, contexts: readonly string[], from: number): number | Problem | undefined {
  let at: number | undefined
  for (const context of contexts) {
    const start = at === undefined ? from : at + 1
    const found = lineOf(index, context, start) ?? lineOf(index, context.replace(/\s*@@$/, ''), start)
    if (found === undefined) return { kind: 'missing', wanted: [context], context: true, from: start }
    if (typeof found !== 'number') return found
    at = found
  }
  return at
}

function lineOf(index: LineIndex, text: string, from: number): number | Problem | undefined {
  for (const pass of PASSES) {
    const places = index.find(pass, [text], from, pass === EXACT ? 1 : SHOWN_PLACES + 1)
    if (places.length > 0) return places.length === 1 ? places[0] : several(places, true)
  }
  return undefined
}

const several = (places: readonly number[], context = false): Problem => ({ kind: 'several', lines: places.map((at) => at + 1), context })

/** Only new lines: where the header says, else at the end of the file. */
function insertion(index: LineIndex, hunk: Hunk, anchor: number | undefined, from: number, drift: number): Placed | Problem {
  const numbered = hunk.at === undefined ? index.length : hunk.at + (hunk.at === 0 ? 0 : drift)
  const start = hunk.endOfFile ? index.length : anchor === undefined ? numbered : anchor + 1
  if (start > index.length || start < 0) return { kind: 'past_end', length: index.length }
  if (start < from) return { kind: 'above', lineInFile: start + 1 }
  return { hunk, start, count: 0, lines: hunk.lines, pass: EXACT, further: false }
}

/** The lines of the hunk; and without a blank one at the end, which may stand for the newline there, or for nothing. */
function* variants(hunk: Hunk): Generator<readonly HunkLine[]> {
  let lines = hunk.lines
  yield lines
  for (;;) {
    const last = lines.findLastIndex(({ kind }) => kind !== 'add')
    const line = lines[last]
    if (line?.text !== '' || lines.findIndex(({ kind }) => kind !== 'add') === last) return
    // With a removed blank line goes the new blank line that stands for it.
    const twin = line.kind === 'remove' && lines.at(-1)?.kind === 'add' && lines.at(-1)?.text === '' ? lines.length - 1 : -1
    lines = lines.filter((_, at) => at !== last && at !== twin)
    yield lines
  }
}

interface Where {
  readonly after: number
  readonly anchor: number | undefined
  readonly drift: number
}

type Found = Pick<Placed, 'start' | 'pass' | 'further'>

function seek(index: LineIndex, hunk: Hunk, wanted: readonly string[], { after, anchor, drift }: Where): Found | Problem | undefined {
  const atAnchor = anchor === undefined ? undefined : PASSES.find((pass) => index.fits(pass, wanted, anchor))
  for (const pass of PASSES) {
    const places = hunk.endOfFile ? last(index, pass, wanted, after) : index.find(pass, wanted, after, SHOWN_PLACES + 1)
    const [first] = places
    if (first === undefined) continue
    // The text after "@@" again as the first line: it is not told which of the two places is meant.
    if (atAnchor && anchor !== undefined && !hunk.endOfFile) return several([anchor, ...places])
    if (places.length === 1) return { start: first, pass, further: false }
    if (hunk.at !== undefined) {
      const told = hunk.at + drift
      return told >= after && index.fits(pass, wanted, told) ? { start: told, pass, further: false } : several(places)
    }
    return pass === EXACT ? { start: first, pass, further: hunk.contexts.length === 0 } : several(places)
  }
  return atAnchor && anchor !== undefined ? { start: anchor, pass: atAnchor, further: false } : undefined
}

function last(index: LineIndex, pass: Pass, wanted: readonly string[], after: number): number[] {
  const at = index.length - wanted.length
  return at >= after && index.fits(pass, wanted, at) ? [at] : []
}

function whyNot(index: LineIndex, hunk: Hunk, old: readonly string[], after: number): Problem {
  const anywhere = (wanted: readonly string[], from: number): number | undefined =>
    PASSES.map((pass) => index.find(pass, wanted, from, 1)[0]).find((at) => at !== undefined)
  const elsewhere = hunk.endOfFile ? anywhere(old, after) : undefined
  if (elsewhere !== undefined) return { kind: 'not_last', lineInFile: elsewhere + 1 }
  const now = newLines(hunk).map(({ text }) => text)
  const applied = isTelling(hunk) ? index.find(EXACT, now, after, 1)[0] : undefined
  if (applied !== undefined) return { kind: 'applied', lineInFile: applied + 1 }
  const above = anywhere(old, 0)
  return above === undefined ? { kind: 'missing', wanted: old, context: false, from: after } : { kind: 'above', lineInFile: above + 1 }
}

/** Whether the new lines, found, show that the hunk was made: a lone bracket is everywhere, and so is a line above a removal. */
function isTelling({ lines }: Hunk): boolean {
  const now = lines.filter(({ kind }) => kind !== 'remove')
  const between = lines[0]?.kind === 'keep' && lines.at(-1)?.kind === 'keep'
  return (between || now.some(({ kind }) => kind === 'add')) && now.map(({ text }) => text.trim()).join('').length >= LEAST_TELLING
}
