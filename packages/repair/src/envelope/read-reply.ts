/** Reads a finished reply, or the rest of a streamed one, into text, reasoning and calls. */

import { MAX_MARKUP } from '../limits.ts'
import { type Piece, piecesOf } from './blocks.ts'
import type { Family, ToolIndex } from './family.ts'
import { END_TOKENS } from './intent.ts'
import { type Lines, linesOf } from './place.ts'
import { sourceOf } from './source.ts'
import { type TextCall, textCalls } from './text-call.ts'
import { cachedTriggers } from './triggers.ts'

export interface ReaderOptions {
  /** Which families to look for, in order. */
  readonly families: readonly Family[]
  /** The reply begins inside the reasoning, which ends at `</think>`. Without that tag, the whole reply is text. Default false. */
  readonly opensInReasoning?: boolean
  /** Returns whether a sentence announces an action, for languages other than English. */
  readonly announces?: (sentence: string) => boolean
  /** See `ReplyOptions`. */
  readonly asks?: boolean
  /** The text arrives in one piece, so nothing has to be shown before its end. Default false. */
  readonly whole?: boolean
}

/** Text and reasoning that can be shown. */
export interface Shown {
  readonly text: string
  readonly reasoning: string
}

export interface ReadReply extends Shown {
  readonly calls: readonly TextCall[]
  /** Calls that were skipped because they are quoted, shown as an example or part of the reasoning, and why. */
  readonly quoted: readonly { readonly raw: string; readonly why: string; readonly open: boolean }[]
}

export interface ReplyReader {
  /** Adds a piece of text. Returns what can be shown so far. */
  readonly push: (delta: string) => Shown
  /** Ends the reply. Returns what remains to be shown and all calls of the reply. */
  readonly end: () => ReadReply
}

/** Call tags without a call. */
const LONE_TAGS =
  /<\/?(?:tool_calls?|function_calls?|invoke|function|parameter|arg_key|arg_value)>|<\|tool_calls?(?:_section)?_(?:begin|end)\|>/g
export const NOTHING: ReadReply = { text: '', reasoning: '', calls: [], quoted: [] }
export const THINK_END = '</think>'

/** Reads a reply that does not have to be shown before its end. */
export function wholeReader(tools: ToolIndex, options: ReaderOptions): ReplyReader {
  let text = ''
  return {
    push: (delta) => {
      text += delta
      return NOTHING
    },
    end: () => readReply(text, tools, options),
  }
}

export function readReply(text: string, tools: ToolIndex, options: ReaderOptions): ReadReply {
  if (!options.opensInReasoning) return readFrom(text, tools, options)
  const close = text.indexOf(THINK_END)
  // Without the closing tag, the text is treated both as reasoning and as a possible answer.
  const read = close === -1 ? readUnclosed(text, tools, options) : readFrom(text.slice(close + THINK_END.length), tools, options)
  return { ...read, reasoning: (close === -1 ? text : text.slice(0, close)) + read.reasoning }
}

/** Reads a reply whose reasoning was never closed. It may be an answer, so it is shown; only calls allowed inside reasoning are read. */
export const readUnclosed = (text: string, tools: ToolIndex, options: ReaderOptions): ReadReply =>
  callsInReasoning(text, tools, options.families).length === 0 ? { ...NOTHING, text: text.trimStart() } : readFrom(text, tools, options)

interface Progress {
  /** Everything before this position has been shown as text. */
  readonly shown: number
  /** Only white space has been shown since the text began, so the whole text may consist of calls. */
  readonly fresh: boolean
  /** Something other than white space has been shown. */
  readonly anyText: boolean
  /** The closing tag of a reasoning tag that was shown as text. */
  readonly inside?: string | undefined
  readonly lines: Lines
}

/** Reads the rest of `text`, after the part that was already shown. */
export function readFrom(text: string, tools: ToolIndex, { families, announces, asks }: ReaderOptions, progress?: Progress): ReadReply {
  const { shown, fresh, anyText, inside, lines }: Progress = progress ?? { shown: 0, fresh: true, anyText: false, lines: linesOf(text) }
  const named = families.filter(({ afterName }) => afterName)
  const whole = families.filter(({ begins }) => begins)
  const hunt = { source: sourceOf(text, tools), triggers: cachedTriggers(families), named, whole, lines, announces }
  const { pieces, quoted } = piecesOf(hunt, shown, fresh, inside)
  const calls: TextCall[] = []
  let said = ''
  let reasoning = ''
  let marked = false
  /** Returns whether the text ended inside a tag. */
  const isTorn = (piece: Piece | undefined): boolean =>
    piece?.kind === 'text' &&
    piece.end === text.length &&
    /^\s*<[^<>]{0,200}$/.test(text.slice(piece.start, Math.min(piece.end, piece.start + 300)))

  for (const [at, piece] of pieces.entries()) {
    const raw = text.slice(piece.start, piece.end)
    if (piece.kind === 'reasoning') reasoning += raw
    else if (piece.kind === 'markup') {
      marked = true
      const { block, family } = piece
      const torn = !block.complete && isTorn(pieces[at + 1])
      const read = torn ? { ...block, calls: block.calls.map((call) => ({ ...call, cutOff: true as const })) } : block
      for (const call of textCalls(read, family, raw, tools, asks)) calls.push(call)
    } else if (!marked || !isTorn(piece)) {
      // White space between and after calls, end-of-turn tokens and lone call tags are not part of the answer.
      const left = marked ? raw.replace(END_TOKENS, '').replace(LONE_TAGS, '') : raw
      if (!marked || left.trim() !== '') said += left
    }
  }
  // White space at the beginning of a reply is not shown.
  if (!anyText) said = said.trimStart()
  return { text: said, reasoning, calls, quoted: quoted.map(({ start, end, why, open }) => ({ raw: text.slice(start, end), why, open })) }
}

const piecesOfThinking = (text: string, tools: ToolIndex, families: readonly Family[], whole: readonly Family[] = []) =>
  piecesOf(
    { source: sourceOf(text, tools), triggers: cachedTriggers(families), named: [], whole, lines: linesOf(text) },
    0,
    whole.length > 0,
  )

/** Returns the parts of the reasoning that look like calls. */
export function seenInThinking(text: string, tools: ToolIndex, families: readonly Family[]): readonly string[] {
  const whole = families.filter(({ begins }) => begins)
  const { pieces, quoted } = piecesOfThinking(text, tools, families, whole)
  const isCall = (piece: Piece): boolean => piece.kind === 'markup' && piece.block.calls.some(({ name }) => tools.resolve(name))
  return [...new Set([...pieces.filter(isCall), ...quoted].map(({ start, end }) => text.slice(start, end)))]
}

/**
 * Returns the calls that a model made at the end of its reasoning before it stopped. Used only if the reply contains nothing else.
 * Accepts only reads in complete and undamaged markup; anything else that looks like a call is considered a plan.
 */
export function callsInReasoning(reasoning: string, tools: ToolIndex, families: readonly Family[]): readonly TextCall[] {
  if (reasoning.length > MAX_MARKUP) return []
  const { pieces } = piecesOfThinking(reasoning, tools, families)
  const calls: TextCall[] = []
  for (const piece of pieces.toReversed()) {
    const raw = reasoning.slice(piece.start, piece.end)
    if (raw.trim() === '') continue
    if (piece.kind !== 'markup' || piece.family.begins) break
    calls.unshift(...textCalls(piece.block, piece.family, raw, tools))
  }
  const isRun = ({ tool, canonical, cutOff, unread }: TextCall): boolean =>
    tool?.effect === 'read' && canonical && !cutOff && unread === undefined
  return calls.every(isRun) ? calls : []
}
