/** Applies hunks to a text: finds the place of each hunk and applies them all, or reports why one does not apply. Pure. */
import { firstFrom, fold } from '../../edit_file/match/folded.ts'
import { depthsOf, shifted } from '../../edit_file/match/reindentation.ts'
import { type Hunk, type HunkLine, textsBut } from '../format/patch.ts'

/** A way to compare lines. */
export interface Pass {
  readonly of: (line: string) => string
  /** Note for a hunk that was found by this comparison. */
  readonly note?: string
}

/** From exact to lenient. */
export const PASSES: readonly Pass[] = [
  { of: (line) => line },
  { of: (line) => line.trimEnd(), note: 'apart from spaces at the ends of lines' },
  { of: (line) => line.trim(), note: 'apart from indentation, which was kept as it is in the file' },
  { of: (line) => fold(line).text.trim(), note: 'apart from dashes, quotes and spaces of other kinds' },
]

export interface Placed {
  readonly hunk: Hunk
  /** From 0. */
  readonly start: number
  /** Number of lines of the text that the hunk covers. */
  readonly count: number
  /** Lines of the hunk, without trailing blank lines that are not in the text. */
  readonly lines: readonly HunkLine[]
  readonly pass: Pass
  /** Whether the hunk would also have matched further down. */
  readonly further: boolean
}

/** Line numbers start at 1. */
export type Problem =
  /** The old lines, or a text after `@@`, were not found below the previous hunk. */
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
/** In characters of the new lines. */
const LEAST_TELLING = 4
/** Maximum number of line comparisons for one file. Without it, a repetitive text would take quadratic time. */
const MAX_WORK = 50_000_000

class TooMuchWork extends Error {}

type LineIndex = ReturnType<typeof lineIndex>

/** Finds runs of lines. Builds one index per pass and looks up only the rarest of the wanted lines. */
function lineIndex(lines: readonly string[]) {
  const made = new Map<Pass, { readonly keys: readonly string[]; readonly places: ReadonlyMap<string, readonly number[]> }>()
  let work = 0
  const indexFor = (pass: Pass) => {
    const known = made.get(pass)
    if (known) return known
    const keys = lines.map(pass.of)
    const index = { keys, places: Map.groupBy(keys.keys(), (at) => keys[at] as string) }
    made.set(pass, index)
    return index
  }
  const equal = (keys: readonly string[], wanted: readonly string[], at: number): boolean => {
    let count = 0
    while (count < wanted.length && keys[at + count] === wanted[count]) count++
    work += count + 1
    if (work > MAX_WORK) throw new TooMuchWork()
    return count === wanted.length
  }
  return {
    length: lines.length,
    fits: (pass: Pass, wanted: readonly string[], at: number): boolean =>
      at >= 0 && at + wanted.length <= lines.length && equal(indexFor(pass).keys, wanted.map(pass.of), at),
    /** Returns up to `most` positions at or after `from` where the lines occur, in order. */
    find(pass: Pass, wanted: readonly string[], from: number, most: number): number[] {
      const { keys, places } = indexFor(pass)
      const keyed = wanted.map(pass.of)
      let rarest = 0
      let candidates: readonly number[] = []
      for (const [offset, key] of keyed.entries()) {
        const list = places.get(key)
        if (!list) return []
        if (offset === 0 || list.length < candidates.length) [rarest, candidates] = [offset, list]
      }
      const found: number[] = []
      for (let at = firstFrom(candidates, from + rarest); at < candidates.length && found.length < most; at++) {
        const start = (candidates[at] as number) - rarest
        if (start + keyed.length <= keys.length && equal(keys, keyed, start)) found.push(start)
      }
      return found
    },
  }
}

function placeHunks(lines: readonly string[], hunks: readonly Hunk[]): Placement {
  const index = lineIndex(lines)
  const placed: Placed[] = []
  /** First line below the hunks placed so far. */
  let from = 0
  /** How far off the line numbers of a unified diff have been so far. */
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
  // Hunks with only new lines go to the end of the file, even if other hunks follow.
  return { ok: true, placed: placed.sort((a, b) => a.start - b.start) }
}

function placeOne(index: LineIndex, hunk: Hunk, from: number, drift: number): Placed | Problem {
  const anchor = below(index, hunk.contexts, from)
  if (typeof anchor === 'object') return anchor
  const after = anchor === undefined ? from : anchor + 1
  const old = textsBut('add', hunk.lines)
  if (old.length === 0) return insertion(index, hunk, anchor, from, drift)
  for (const lines of variants(hunk)) {
    const wanted = textsBut('add', lines)
    const found = seek(index, hunk, wanted, { after, anchor, drift })
    if (found) return 'kind' in found ? found : { hunk, count: wanted.length, lines, ...found }
  }
  return whyNot(index, hunk, old, after)
}

/** Returns the line of the last text after `@@`. Each text is searched for below the previous one. */
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

/** Places a hunk that has only new lines: at the position in its header, otherwise at the end of the file. */
function insertion(index: LineIndex, hunk: Hunk, anchor: number | undefined, from: number, drift: number): Placed | Problem {
  const numbered = hunk.at === undefined ? index.length : hunk.at + (hunk.at === 0 ? 0 : drift)
  const start = hunk.endOfFile ? index.length : anchor === undefined ? numbered : anchor + 1
  if (start > index.length || start < 0) return { kind: 'past_end', length: index.length }
  if (start < from) return { kind: 'above', lineInFile: start + 1 }
  return { hunk, start, count: 0, lines: hunk.lines, pass: EXACT, further: false }
}

/** Yields the lines of the hunk, then the lines without a trailing blank one, which may stand for the final newline or for nothing. */
function* variants(hunk: Hunk): Generator<readonly HunkLine[]> {
  let lines = hunk.lines
  yield lines
  for (;;) {
    const last = lines.findLastIndex(({ kind }) => kind !== 'add')
    const line = lines[last]
    if (line?.text !== '' || lines.findIndex(({ kind }) => kind !== 'add') === last) return
    // A removed blank line takes the new blank line that corresponds to it with it.
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
  const end = index.length - wanted.length
  for (const pass of PASSES) {
    const atEnd = () => (end >= after && index.fits(pass, wanted, end) ? [end] : [])
    const places = hunk.endOfFile ? atEnd() : index.find(pass, wanted, after, SHOWN_PLACES + 1)
    const [first] = places
    if (first === undefined) continue
    // The text after "@@" is repeated as the first line, so it is ambiguous which of the two places is meant.
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

function whyNot(index: LineIndex, hunk: Hunk, old: readonly string[], after: number): Problem {
  const anywhere = (wanted: readonly string[], from: number): number | undefined =>
    PASSES.map((pass) => index.find(pass, wanted, from, 1)[0]).find((at) => at !== undefined)
  const elsewhere = hunk.endOfFile ? anywhere(old, after) : undefined
  if (elsewhere !== undefined) return { kind: 'not_last', lineInFile: elsewhere + 1 }
  const applied = isTelling(hunk) ? index.find(EXACT, textsBut('remove', hunk.lines), after, 1)[0] : undefined
  if (applied !== undefined) return { kind: 'applied', lineInFile: applied + 1 }
  const above = anywhere(old, 0)
  return above === undefined ? { kind: 'missing', wanted: old, context: false, from: after } : { kind: 'above', lineInFile: above + 1 }
}

/**
 * Returns true if finding the new lines shows that the hunk was already applied. A lone bracket occurs everywhere, and so may a line above
 * a removal.
 */
function isTelling({ lines }: Hunk): boolean {
  const between = lines[0]?.kind === 'keep' && lines.at(-1)?.kind === 'keep'
  const said = textsBut('remove', lines).map((text) => text.trim())
  return (between || lines.some(({ kind }) => kind === 'add')) && said.join('').length >= LEAST_TELLING
}

export type Update =
  | { readonly ok: true; readonly text: string; readonly placed: readonly Placed[] }
  | { readonly ok: false; readonly hunk: Hunk; readonly problem: Problem | { readonly kind: 'indentation'; readonly lineInFile: number } }

/** A line with its own line ending. Only the last line may have none. */
interface TextLine {
  readonly text: string
  readonly end: string
}

/** @param literal keep a last line without a newline unless the hunks say otherwise. By default it gets one */
export function updated(text: string, hunks: readonly Hunk[], literal: boolean): Update {
  const lines = linesOf(text, hunks)
  /** New lines get the first line ending of the text. */
  const newline = lines[0]?.end || '\n'
  const placement = placeHunks(
    lines.map((line) => line.text),
    hunks,
  )
  if (!placement.ok) return placement
  const result: TextLine[][] = []
  let from = 0
  for (const placed of placement.placed) {
    const end = placed.start + placed.count
    const brought = replaced(placed, lines.slice(placed.start, end), newline)
    if (!brought) return { ok: false, hunk: placed.hunk, problem: { kind: 'indentation', lineInFile: placed.start + 1 } }
    result.push(lines.slice(from, placed.start), brought)
    from = end
  }
  const all = [...result, lines.slice(from)].flat()
  const last = placement.placed.at(-1)
  const bare = last?.hunk.bare === true && last.start + last.count === lines.length
  // Every line gets a line ending, except the last one if the hunks say so or leave it alone.
  const ended = all.map(({ text: one, end }, at) => {
    const isLast = at === all.length - 1
    return one + (isLast && bare ? '' : end === '' && !(isLast && literal) ? newline : end)
  })
  return { ok: true, text: ended.join(''), placed: placement.placed }
}

/** Unchanged lines keep their bytes. New lines get the indentation of the file if the old lines matched only without theirs. */
function replaced({ lines, pass }: Placed, found: readonly TextLine[], newline: string): TextLine[] | undefined {
  const texts = found.map(({ text }) => text)
  const depths = PASSES.indexOf(pass) < 2 ? undefined : depthsOf(textsBut('add', lines), texts)
  // One indentation stands for two in the file, so the right one for new lines is unknown.
  if (depths && [...depths.values()].includes(undefined)) return undefined
  const result: TextLine[] = []
  let at = 0
  for (const { kind, text } of lines) {
    if (kind === 'add') result.push({ text: (depths && text.trim() !== '' ? shifted(text, depths) : undefined) ?? text, end: newline })
    else if (kind === 'keep') result.push(found[at++] as TextLine)
    else at++
  }
  return result
}

/**
 * Splits a text into lines that end with `\n` or `\r\n`. A lone carriage return is an ordinary character, unless neither the text nor the
 * hunks have other line endings: then it is the line ending of old Macs.
 */
function linesOf(text: string, hunks: readonly Hunk[]): TextLine[] {
  const alone = text.includes('\r') && !text.includes('\n') && !hunks.some((hunk) => hunk.lines.some((line) => line.text.includes('\r')))
  const separator = alone ? '\r' : '\n'
  const texts = text.split(separator)
  const last = texts.pop() as string
  const lines = texts.map((line) =>
    !alone && line.endsWith('\r') ? { text: line.slice(0, -1), end: '\r\n' } : { text: line, end: separator },
  )
  return last === '' ? lines : [...lines, { text: last, end: '' }]
}
