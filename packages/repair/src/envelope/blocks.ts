/** Splits a reply into text, reasoning, and blocks of markup that are calls. */
import { MAX_MARKUP } from '../limits.ts'
import { skip } from '../text.ts'
import type { Block, Family, MarkupCall, Source, ToolIndex } from './family.ts'
import { type NotMeant, whyNotMeant } from './intent.ts'
import { type Lines, quotedBetween } from './place.ts'
import type { Mark } from './reasoning.ts'
import { isCareful } from './text-call.ts'
import { type Hit, hitsIn, type Triggers } from './triggers.ts'

interface Span {
  readonly start: number
  readonly end: number
}

interface Markup extends Span {
  readonly kind: 'markup'
  readonly family: Family
  readonly block: Block
}

export type Piece = Markup | (Span & { readonly kind: 'text' | 'reasoning' })

/** A block that was probably quoted rather than meant as a call, and why. */
export interface Quoted extends Span, NotMeant {
  /** Whether the tool has side effects. */
  readonly careful?: boolean
}

/** How far before a block text is checked for doubts, in characters. */
const LEAD = 400
/** The maximum length of a tool name alone on a line, including surrounding white space. */
export const MAX_NAME = 100
/** See `place.ts`. */
const OTHERS_SAID = 'said by somebody else'
/** How far before a block an opening quotation can start, in characters. */
export const REACH = 2000

export interface Hunt {
  readonly source: Source
  readonly triggers: Triggers
  /** Families whose blocks may begin with a tool name. */
  readonly named: readonly Family[]
  /** Families whose calls may form a whole reply. */
  readonly whole: readonly Family[]
  readonly lines: Lines
  /** See {@link ReaderOptions}. */
  readonly announces?: ((sentence: string) => boolean) | undefined
}

/**
 * Splits `source.text` into pieces, starting at `from`. The text before it is plain text and was already shown. If the first possible
 * call starts too far from the end, it and everything after it remain text and are marked as doubtful.
 * @param inside the closing tag of a reasoning tag that was shown as text: calls before it are part of a plan
 * @param fresh nothing was shown before `from`, so the whole text may consist of calls
 */
export function piecesOf(
  hunt: Hunt,
  from: number,
  fresh: boolean,
  inside = '',
): { readonly pieces: readonly Piece[]; readonly quoted: readonly Quoted[] } {
  const { source, triggers, lines } = hunt
  const { text, tools } = source
  const pieces: Piece[] = []
  const quoted: Quoted[] = []
  const hits = hitsIn(text, triggers, from)
  let done = from
  let over: string | undefined
  /** Only calls and white space were found since the text or its reasoning ended. */
  let isStart = fresh
  /** The end of thinking that is part of the text: calls in it are not run. */
  let thoughtEnd = inside === '' ? -1 : source.find(inside, from)
  /** A possible call has been found since the text began. */
  let isHeld = false
  /** Start of the text that may consist only of calls. */
  let start = fresh ? from : text.length

  const add = (kind: 'text' | 'reasoning', start: number, end: number): void => {
    if (end > start) pieces.push({ kind, start, end })
  }
  const isQuoted = (at: number, end: number): string | undefined =>
    quotedBetween(text.slice(Math.max(lines.floor(), at - REACH), at), text.slice(end, end + LEAD), lines.placeAt(at))
  const isCall = (family: Family, at: number): boolean => family.begins?.(text, at, tools) === 'yes'
  const opensWithCall = (): boolean => hunt.whole.some((family) => isCall(family, skip(text, start)))
  /** A call begins at `at`, but the text after it exceeds the reading limit. */
  let longAt = -1
  const isLong = (at: number): boolean => text.length - at > MAX_MARKUP

  function mark({ text: tag, ...mark }: Mark, at: number): void {
    const after = at + tag.length
    const close = mark.kind === 'open' ? source.find(mark.close, after) : -1
    if (mark.kind === 'close' && (isHeld || opensWithCall())) {
      // A lone closing tag: everything since the previous one was reasoning, calls included. Text without calls may already have been
      // shown.
      const since = pieces.findLastIndex((piece) => piece.kind === 'reasoning') + 1
      const start = pieces[since]?.start ?? done
      pieces.length = since
      quoted.length = 0
      add('reasoning', start, at)
    } else add('text', done, at)
    if (mark.kind === 'open') add('reasoning', after, close === -1 ? text.length : close)
    done = mark.kind !== 'open' ? after : close === -1 ? text.length : close + mark.close.length
    // The text that follows is independent of everything before the mark.
    pieces.push({ kind: 'reasoning', start: done, end: done })
    start = done
    isHeld = false
    isStart = true
    lines.restart(done)
    hits.skipTo(done, true)
    if (isLong(start) && opensWithCall()) longAt = start
  }

  if (isLong(start) && opensWithCall()) longAt = start
  for (let hit = hits.next(); hit && longAt === -1; hit = hits.next()) {
    if (hit.at < done) continue
    if (hit.mark) {
      if (isQuoted(hit.at, hit.at + hit.mark.text.length) || hit.at === thoughtEnd) continue
      isStart &&= text.slice(done, hit.at).trim() === ''
      if (hit.mark.kind !== 'open' || !hit.mark.isWord || isStart) mark(hit.mark, hit.at)
      else if (hit.at > thoughtEnd) thoughtEnd = source.find(hit.mark.close, hit.at)
      continue
    }
    if (isLong(hit.at)) {
      const name = nameOf(hunt, hit.at) ?? -1
      const mayBegin = name >= done || hit.families.some((family) => !family.begins || isCall(family, hit.at))
      if (mayBegin && lines.placeAt(hit.at).fence === undefined) longAt = name >= done ? name : hit.at
      continue
    }
    const found = blockAt(hunt, hit, done)
    isHeld ||= (found ?? hit.families.some(({ begins }) => !begins)) !== false && lines.placeAt(hit.at).fence === undefined
    if (!found) continue
    const { start, block } = found
    const planned = start < thoughtEnd ? 'in the thinking' : undefined
    const why = over ?? planned ?? isQuoted(start, block.end)
    if (why) {
      quoted.push({ start, end: block.end, why, open: false })
      // If another speaker's turn follows a call, the model invented it and everything after it.
      if (why === OTHERS_SAID && pieces.some((piece) => piece.kind === 'markup')) over = why
    } else {
      isStart &&= text.slice(done, start).trim() === ''
      add('text', done, start)
      pieces.push(found)
      done = block.end
      // The arguments of a call cannot quote the text after it.
      lines.restart(done)
    }
    hits.skipTo(block.end)
  }
  add('text', done, text.length)
  if (longAt !== -1) quoted.push({ start: longAt, end: text.length, why: 'in a long text', open: true })
  const whole = longAt === -1 ? wholeBlock(hunt, start, pieces) : undefined
  const shown = whole ? quoted.filter((one) => one.end <= start || one.start >= whole.end) : quoted
  const doubted: Quoted[] = []
  const left = withoutDoubtful(hunt, whole ? withBlock(whole, start, pieces) : pieces, doubted)
  shown.push(...doubted)
  return { pieces: allOrNone(tools, left, shown, doubted), quoted: shown }
}

const asText = ({ start, end }: Span): Piece => ({ kind: 'text', start, end })

/** Drops all calls if a doubtful one may have been intended too: running only part of a request does not help. */
function allOrNone(tools: ToolIndex, pieces: readonly Piece[], quoted: Quoted[], doubted: readonly Quoted[]): readonly Piece[] {
  const open = doubted.filter((one) => one.open)
  const again = open.length === 0
  if (again && !isLoop(pieces)) return pieces
  const onlyCareful = !again && open.every(({ careful }) => careful)
  return pieces.map((piece) => {
    if (piece.kind !== 'markup' || (onlyCareful && !isCarefulBlock(piece.block, tools))) return piece
    const why = again ? 'the same call again and again' : 'beside a call that is in doubt'
    quoted.push({ start: piece.start, end: piece.end, why, open: true })
    return asText(piece)
  })
}

/** Returns whether one call occurs more than twice, as when a model is stuck in a loop. */
function isLoop(pieces: readonly Piece[]): boolean {
  const calls = pieces.flatMap((piece) => (piece.kind === 'markup' ? piece.block.calls : []))
  // Most calls already differ in their first value, which is faster to compare.
  if (new Set(calls.map(firstValue)).size > calls.length - 2) return false
  const same = Map.groupBy(calls, ({ name, arguments: given }) => name + JSON.stringify(given))
  return [...same.values()].some(({ length }) => length > 2)
}

function firstValue({ arguments: given }: MarkupCall): unknown {
  const [first] = given.kind === 'object' ? Object.values(given.value) : given.kind === 'texts' ? [given.entries[0]?.text] : [given.text]
  return typeof first === 'object' || first
}

const isCarefulBlock = ({ calls }: Block, tools: ToolIndex): boolean => calls.some(({ name }) => isCareful(tools.resolve(name)))

/** Returns the block at `start` of the first of the families that reads one, among those for which `may` is true. */
function blockOf(
  families: readonly Family[],
  source: Source,
  start: number,
  may: (family: Family) => boolean | undefined,
): Markup | undefined {
  for (const family of families) {
    const block = may(family) ? family.read(source, start) : undefined
    if (block) return { kind: 'markup', start, end: block.end, family, block }
  }
  return undefined
}

/** Reads the calls at `at` when the markup found there does not name a tool. */
function wholeBlock({ source, whole }: Hunt, at: number, pieces: readonly Piece[]): Markup | undefined {
  const { text, tools } = source
  const start = skip(text, at)
  const there = pieces.find((piece) => piece.start <= start && piece.end > start)
  if (there?.kind === 'markup' && there.block.calls.every(({ name, arguments: given }) => tools.resolve(name) && given.kind !== 'unread'))
    return undefined
  return blockOf(whole, source, start, ({ begins }) => begins?.(text, start, tools) === 'yes')
}

function withBlock(found: Markup, from: number, pieces: readonly Piece[]): readonly Piece[] {
  const { end } = found
  const cut = pieces.map((piece) => (piece.kind === 'text' && piece.start < end && piece.end > end ? { ...piece, start: end } : piece))
  return [...pieces.filter((piece) => piece.end <= from), found, ...cut.filter((piece) => piece.end > end && piece.start >= end)]
}

const ITEM = /(?:^|\n)[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+$/

/**
 * Turns blocks back into text when their surroundings cast doubt on them. Adjacent blocks and items of one list share their
 * surroundings.
 */
function withoutDoubtful({ source: { text, tools }, announces }: Hunt, pieces: readonly Piece[], doubted: Quoted[]): readonly Piece[] {
  const textOf = (piece: Piece | undefined): string => (piece?.kind === 'text' ? text.slice(piece.start, piece.end) : '')
  const joins = (piece: Piece | undefined): boolean => piece?.kind === 'markup' || /^\s*$/.test(textOf(piece).replace(ITEM, ''))
  let lead = ''
  let tail = ''
  let to = 0
  return pieces.map((piece, from) => {
    if (piece.kind !== 'markup') return piece
    const { start, end, family, block } = piece
    if (from >= to) {
      for (to = from + 1; to < pieces.length && joins(pieces[to]); ) to++
      const before = pieces[from - 1]
      // Text that was already shown precedes the first piece.
      const floor = from > 1 ? (before?.start ?? 0) : 0
      lead = before && before.kind !== 'text' ? '' : text.slice(Math.max(floor, start - LEAD), start).replace(ITEM, '\n')
      tail = textOf(pieces[to])
    }
    const sure = !family.begins && block.calls.some(({ name }) => tools.resolve(name))
    const careful = isCarefulBlock(block, tools)
    const inLine = family.begins !== undefined && /\S[ \t]*$/.test(lead)
    const doubt = whyNotMeant({ lead, tail, sure, careful, inLine, announces }) ?? (block.calls.some(isGuess) ? GUESS : undefined)
    if (doubt) doubted.push({ start, end, careful, ...doubt })
    return doubt ? asText(piece) : piece
  })
}

/** Placeholders for unknown values. */
const STAND_IN =
  /[:[,]"(?:|<[^<>"]*>|unknown|unspecified|not (?:provided|specified|known)|n\/?a|path\/to\/[^"]*|your_\w+|\w+_(?:here|path|not_provided))"/i
const GUESS = { why: 'with a value that only stands for one', open: true }

const isGuess = ({ unsure, unmarked, arguments: given }: MarkupCall): boolean =>
  (unsure ?? unmarked) === true && given.kind === 'object' && STAND_IN.test(JSON.stringify(given.value))

type Named = Pick<Hunt, 'named' | 'lines'> & { readonly source: Omit<Source, 'find'> }

/** Returns whether a family's block may begin with a name followed by the text at `at`. */
const mayFollowName =
  (text: string, at: number) =>
  ({ afterName }: Family): boolean | undefined =>
    afterName?.some((after) => text.startsWith(after, at))

/** Returns the start of a tool name before `at` if a family's block may begin with a name followed by the text at `at`. */
export const nameOf = ({ source: { text, tools }, named, lines }: Named, at: number): number | undefined =>
  named.some(mayFollowName(text, at)) ? nameBefore(text, at, lines, tools) : undefined

function blockAt(hunt: Hunt, { at, families }: Hit, done: number): Markup | undefined {
  const { source, named } = hunt
  const { text, tools } = source
  const start = nameOf(hunt, at)
  const isNamed = start !== undefined && start >= done
  const found = isNamed && blockOf(named, source, start, mayFollowName(text, at))
  return found || blockOf(families, source, at, ({ begins }) => begins?.(text, at, tools) !== 'no')
}

/** Returns where a tool name begins that is alone between the line start and `at`, or alone on the previous line. */
function nameBefore(text: string, at: number, lines: Lines, tools: ToolIndex): number | undefined {
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
