/** Takes a reply apart: text, reasoning, and blocks of markup that are calls. */
import { MAX_MARKUP } from '../limits.ts'
import type { Block, Family, MarkupCall, Source, ToolIndex } from './family.ts'
import { whyNotMeant } from './intent.ts'
import type { Lines } from './lines.ts'
import { quotedBetween } from './place.ts'
import type { Mark } from './reasoning.ts'
import { skip } from './syntax/json-extent.ts'
import { isCareful } from './text-call.ts'
import { type Hit, hitsIn, type Triggers } from './triggers.ts'

export type Piece =
  | { readonly kind: 'text' | 'reasoning'; readonly start: number; readonly end: number }
  | { readonly kind: 'markup'; readonly start: number; readonly end: number; readonly family: Family; readonly block: Block }

/** A block that is shown rather than meant, and by what that is seen. */
export interface Quoted {
  readonly start: number
  readonly end: number
  readonly why: string
  /** It may well have been meant: the model has to be asked. */
  readonly open: boolean
  /** It has effects. */
  readonly careful?: boolean
}

export interface Pieces {
  readonly pieces: readonly Piece[]
  readonly quoted: readonly Quoted[]
}

/** How much of the text before a block can put it in doubt, in characters. */
const LEAD = 400
/** No tool's name that stands alone on a line is longer, white space around it included. */
export const MAX_NAME = 100
/** See `place.ts`. */
const OTHERS_SAID = 'said by somebody else'
/** How much can quote it. */
export const REACH = 2000

export interface Hunt {
  readonly source: Source
  readonly triggers: Triggers
  /** Families whose blocks may begin with the name of a tool. */
  readonly named: readonly Family[]
  /** Families whose calls may be all of a reply. */
  readonly whole: readonly Family[]
  readonly lines: Lines
  /** See {@link ReaderOptions}. */
  readonly announces?: ((sentence: string) => boolean) | undefined
}

/**
 * The pieces of `source.text` from `from` on. What stands before is known to be text, and shown already. What is too long is
 * text too, and doubtful.
 * @param fresh nothing was shown before `from`: all of the text may be calls
 */
export function piecesOf(hunt: Hunt, from: number, fresh: boolean): Pieces {
  const { source, triggers, lines } = hunt
  const { text } = source
  const pieces: Piece[] = []
  const quoted: Quoted[] = []
  const hits = hitsIn(text, triggers, from)
  let done = from
  let over: string | undefined
  /** Where the text begins that may be nothing but calls. */
  let start = fresh ? from : text.length
  if (text.length - from > MAX_MARKUP) {
    hits.skipTo(text.length)
    quoted.push({ start: from, end: text.length, why: 'in a long text', open: true })
  }

  const add = (kind: 'text' | 'reasoning', start: number, end: number): void => {
    if (end > start) pieces.push({ kind, start, end })
  }
  const isQuoted = (at: number, end: number): string | undefined =>
    quotedBetween(text.slice(Math.max(lines.floor(), at - REACH), at), text.slice(end, end + LEAD), lines.placeAt(at))

  function mark({ text: tag, ...mark }: Mark, at: number): void {
    const after = at + tag.length
    if (mark.kind === 'open') {
      const close = source.find(mark.close, after)
      add('text', done, at)
      add('reasoning', after, close === -1 ? text.length : close)
      done = close === -1 ? text.length : close + mark.close.length
    } else if (mark.kind === 'close') {
      // A closing tag alone: all since the last one was reasoning, calls and all.
      const since = pieces.findLastIndex((piece) => piece.kind === 'reasoning') + 1
      const start = pieces[since]?.start ?? done
      pieces.length = since
      quoted.length = 0
      add('reasoning', start, at)
      done = after
    } else {
      add('text', done, at)
      done = after
    }
    start = done
    lines.restart(done)
    hits.restart(done)
  }

  for (let hit = hits.next(); hit; hit = hits.next()) {
    if (hit.at < done) continue
    if (hit.mark) {
      if (!isQuoted(hit.at, hit.at + hit.mark.text.length)) mark(hit.mark, hit.at)
      continue
    }
    const found = blockAt(hunt, hit, done)
    if (!found) continue
    const { start, family, block } = found
    const why = over ?? isQuoted(start, block.end)
    if (why) {
      quoted.push({ start, end: block.end, why, open: false })
      // After a call, what others say is made up, and so is all that follows.
      if (why === OTHERS_SAID && pieces.some((piece) => piece.kind === 'markup')) over = why
    } else {
      add('text', done, start)
      pieces.push({ kind: 'markup', start, end: block.end, family, block })
      done = block.end
      // Nothing in its arguments quotes what comes after.
      lines.restart(done)
    }
    hits.skipTo(block.end)
  }
  add('text', done, text.length)
  const whole = text.length - from > MAX_MARKUP ? undefined : wholeBlock(hunt, start, pieces)
  const all = whole ? withBlock(whole, start, pieces) : pieces
  const shown = whole ? quoted.filter((one) => one.end <= start || one.start >= whole.block.end) : quoted
  const before = shown.length
  const left = groupsOf(source, all).flatMap((group) => judged(source, group, shown, hunt.announces))
  return { pieces: allOrNone(source, left, shown, shown.slice(before)), quoted: shown }
}

/** Of several calls in one reply none is made where another may have been meant as well: a part of what was asked helps nobody. */
function allOrNone({ tools }: Source, pieces: readonly Piece[], quoted: Quoted[], doubted: readonly Quoted[]): readonly Piece[] {
  const open = doubted.filter((one) => one.open)
  const again = open.length === 0 && isLoop(pieces)
  if (open.length === 0 && !again) return pieces
  const onlyCareful = !again && open.every(({ careful }) => careful)
  return pieces.map((piece) => {
    if (piece.kind !== 'markup' || (onlyCareful && !isCarefulBlock(piece.block, tools))) return piece
    const why = again ? 'the same call again and again' : 'beside a call that is in doubt'
    quoted.push({ start: piece.start, end: piece.end, why, open: true })
    return { kind: 'text', start: piece.start, end: piece.end }
  })
}

/** Whether one call comes more than twice: a model that went round in circles. */
function isLoop(pieces: readonly Piece[]): boolean {
  const calls = pieces.flatMap((piece) => (piece.kind === 'markup' ? piece.block.calls : []))
  if (calls.length < 3) return false
  const all = calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`).sort()
  return all.some((one, at) => one === all[at + 2])
}

const isCarefulBlock = ({ calls }: Block, tools: ToolIndex): boolean => calls.some(({ name }) => isCareful(tools.resolve(name)))

/** The calls that the text at `at` begins with, where no markup was found there that says what is called. */
function wholeBlock({ source, whole }: Hunt, at: number, pieces: readonly Piece[]): Found | undefined {
  const { text, tools } = source
  const start = skip(text, at)
  const there = pieces.find((piece) => piece.start <= start && piece.end > start)
  if (there?.kind === 'markup' && there.block.calls.every(({ name, arguments: given }) => tools.resolve(name) && given.kind !== 'unread'))
    return undefined
  for (const family of whole) {
    const block = family.begins?.(text, start, tools) === 'yes' ? family.read(source, start) : undefined
    if (block) return { start, family, block }
  }
  return undefined
}

function withBlock({ start, family, block }: Found, from: number, pieces: readonly Piece[]): readonly Piece[] {
  const after = pieces.flatMap((piece) =>
    piece.end <= block.end ? [] : piece.start >= block.end ? [piece] : piece.kind === 'text' ? [{ ...piece, start: block.end }] : [],
  )
  return [...pieces.filter((piece) => piece.end <= from), { kind: 'markup', start, end: block.end, family, block }, ...after]
}

/** Blocks that stand together, or as items of one list, and the text around them. */
interface Group {
  readonly pieces: readonly Piece[]
  readonly lead: string
  readonly tail: string
}

const ITEM = /(?:^|\n)[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+$/

function groupsOf({ text }: Source, pieces: readonly Piece[]): readonly Group[] {
  const groups: Group[] = []
  const textOf = (piece: Piece | undefined): string => (piece?.kind === 'text' ? text.slice(piece.start, piece.end) : '')
  const joins = (piece: Piece | undefined): boolean => piece?.kind === 'markup' || /^\s*$/.test(textOf(piece).replace(ITEM, ''))
  for (let from = 0, to = 0; from < pieces.length; from = to) {
    for (to = from + 1; pieces[from]?.kind === 'markup' && to < pieces.length && joins(pieces[to]); ) to++
    const before = pieces[from - 1]
    const start = pieces[from]?.start ?? 0
    const lead = before && before.kind !== 'text' ? '' : text.slice(Math.max(before?.start ?? 0, start - LEAD), start).replace(ITEM, '\n')
    groups.push({ pieces: pieces.slice(from, to), lead, tail: textOf(pieces[to]) })
  }
  return groups
}

/** Blocks that the text around them puts in doubt become text again. */
function judged({ tools }: Source, { pieces, lead, tail }: Group, quoted: Quoted[], announces: Hunt['announces']): readonly Piece[] {
  if (pieces[0]?.kind !== 'markup') return pieces
  return pieces.map((piece) => {
    if (piece.kind !== 'markup') return piece
    const { start, end, family, block } = piece
    const sure = family.strong && block.calls.some(({ name }) => tools.resolve(name))
    const careful = isCarefulBlock(block, tools)
    const inLine = !family.strong && /\S[ \t]*$/.test(lead)
    const doubt = whyNotMeant({ lead, tail, sure, careful, inLine, announces }) ?? (block.calls.some(isGuess) ? GUESS : undefined)
    if (!doubt) return piece
    quoted.push({ start, end, careful, ...doubt })
    return { kind: 'text', start, end }
  })
}

/** Values that stand for one that is not known. */
const STAND_IN =
  /[:[,]"(?:|<[^<>"]*>|unknown|unspecified|not (?:provided|specified|known)|n\/?a|path\/to\/[^"]*|your_\w+|\w+_(?:here|path|not_provided))"/i
const GUESS = { why: 'with a value that only stands for one', open: true }

const isGuess = ({ unsure, unmarked, arguments: given }: MarkupCall): boolean =>
  (unsure ?? unmarked) === true && given.kind === 'object' && STAND_IN.test(JSON.stringify(given.value))

interface Found {
  readonly start: number
  readonly family: Family
  readonly block: Block
}

function blockAt({ source, named, lines }: Hunt, { at, families }: Hit, done: number): Found | undefined {
  const { text, tools } = source
  const start = nameBefore(text, at, lines, tools)
  if (start !== undefined && start >= done)
    for (const family of named) {
      if (!family.afterName?.some((after) => text.startsWith(after, at))) continue
      const block = family.read(source, start)
      if (block) return { start, family, block }
    }
  for (const family of families) {
    if (family.begins?.(text, at, tools) === 'no') continue
    const block = family.read(source, at)
    if (block) return { start: at, family, block }
  }
  return undefined
}

/** Where a tool's name begins that stands alone between the start of a line and `at`, or on the line before. */
export function nameBefore(text: string, at: number, lines: Lines, tools: ToolIndex): number | undefined {
  let start = lines.startOf(at)
  let end = at
  const floor = lines.floor()
  if (at - start <= MAX_NAME && start > floor && text.slice(start, at).trim() === '') {
    end = start - 1
    const back = Math.max(floor, end - MAX_NAME - 1)
    const newline = text.slice(back, end).lastIndexOf('\n')
    start = newline === -1 ? back : back + newline + 1
  }
  if (end - start > MAX_NAME) return undefined
  const line = text.slice(start, end)
  const name = line.trim()
  return name !== '' && tools.exact(name) ? start + line.indexOf(name) : undefined
}
