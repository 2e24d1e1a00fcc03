/**
 * Reads a reply as it streams in: what can be shown is handed out at once, and what may be a call is held back until the
 * reply has ended and it can be told. Text once handed out is never taken back.
 */

import { MAX_NAME, nameBefore, type Piece, piecesOf, type Quoted, REACH } from './blocks.ts'
import type { Family, ToolIndex } from './family.ts'
import { END_TOKENS } from './intent.ts'
import { linesOf } from './lines.ts'
import { OUTSIDE, type Place, placeAfter, quotedBetween } from './place.ts'
import { sourceOf } from './source.ts'
import { skip } from './syntax/json-extent.ts'
import { type TextCall, textCall } from './text-call.ts'
import { cachedTriggers, hitsIn } from './triggers.ts'

export interface ReaderOptions {
  /** Which families to look for, in order. */
  readonly families: readonly Family[]
  /** The reply begins inside the reasoning: all of it up to `</think>` is thinking. Without that tag, all of it is text. Default false. */
  readonly opensInReasoning?: boolean
  /** Whether a sentence announces what follows, in other languages than English. */
  readonly announces?: (sentence: string) => boolean
  /** See `ReplyOptions`. */
  readonly asks?: boolean
}

/** What can be shown. */
export interface Shown {
  readonly text: string
  readonly reasoning: string
}

export interface ReadReply extends Shown {
  readonly calls: readonly TextCall[]
  /** Calls that were not read, because they are quoted, shown as an example, or part of the thinking; and why that is thought. */
  readonly quoted: readonly { readonly raw: string; readonly why: string; readonly open: boolean }[]
}

export interface ReplyReader {
  /** The next piece of text. Returns what can be shown by now. */
  readonly push: (delta: string) => Shown
  /** The reply has ended. Returns what is still to be shown, and the calls of the whole. */
  readonly end: () => ReadReply
}

/** Tags of calls without one. */
const LONE_TAGS =
  /<\/?(?:tool_calls?|function_calls?|invoke|function|parameter|arg_key|arg_value)>|<\|tool_calls?(?:_section)?_(?:begin|end)\|>/g
/** Marks of reasoning that are taken as they come; a reply with more of them is looked at when it has ended, in one pass. */
const MAX_MARKS = 16
interface Part {
  readonly text: string
  /** There is more that can be shown, in another mode. */
  readonly more: boolean
}

const NOTHING: Shown = { text: '', reasoning: '' }
const THINK_END = '</think>'

export function createReplyReader(tools: ToolIndex, { families, opensInReasoning = false, announces, asks }: ReaderOptions): ReplyReader {
  const triggers = cachedTriggers(families)
  const named = families.filter(({ afterName }) => afterName)
  const whole = families.filter(({ begins }) => begins)
  /** The end of what was shown, and all that was not. */
  let kept = ''
  let shown = 0
  /** Where the line begins in which what was not shown begins, and what is open there. */
  let line = 0
  let place: Place = OUTSIDE
  let mode: 'opening' | 'text' | 'reasoning' | 'held' = opensInReasoning ? 'opening' : 'text'
  let close = ''
  let anyText = false
  /** Nothing but white space was shown since the text began: all of it may be calls. */
  let fresh = true
  let marks = 0
  const held: string[] = []
  /** What was shown as reasoning, and may turn out to be the answer. */
  const opened: string[] = []

  function push(delta: string): Shown {
    if (mode === 'held') {
      held.push(delta)
      return NOTHING
    }
    kept += delta
    let text = ''
    let reasoning = ''
    for (let more = true; more; ) {
      if (mode === 'text') {
        const part = showText()
        text += part.text
        more = part.more
      } else {
        const part = showReasoning()
        reasoning += part.text
        more = part.more
      }
    }
    trim()
    return { text, reasoning }
  }

  /** Shows text up to the first place where a block may begin. `more`: it became reasoning. */
  function showText(): Part {
    if (fresh) {
      const verdict = verdictAt(skip(kept, shown), whole)
      if (verdict === 'yes') mode = 'held'
      if (verdict !== 'no') return { text: '', more: false }
    }
    const lines = linesOf(kept, place, line)
    const hits = hitsIn(kept, triggers, shown)
    const end = safeEnd()
    let text = ''
    for (let hit = hits.next(); hit; hit = hits.next()) {
      const { at, mark, families: here } = hit
      if (at >= end) break
      if (at < shown) continue
      if (mark) {
        if (isQuoted(at, lines.placeAt(at))) continue
        text += showUpTo(at)
        if (++marks > MAX_MARKS) {
          mode = 'held'
          return { text, more: false }
        }
        if (mark.kind === 'open') {
          mode = 'reasoning'
          close = mark.close
        }
        restart(at + mark.text.length)
        return { text, more: true }
      }
      const afterName = named.some((family) => family.afterName?.some((after) => kept.startsWith(after, at)))
      const name = afterName ? nameBefore(kept, at, lines, tools) : undefined
      const start = name !== undefined && name >= shown ? name : at
      if (start === at && !here.some((family) => family.strong)) {
        const verdict = verdictAt(at, here)
        if (verdict === 'no') continue
        if (verdict === 'maybe') return { text: text + showUpTo(Math.min(start, end)), more: false }
      }
      // In a fence all that follows is quoted too; by what else it may be, the end will tell.
      if (lines.placeAt(start).fence !== undefined) continue
      mode = 'held'
      return { text: text + showUpTo(start), more: false }
    }
    return { text: text + showUpTo(end), more: false }
  }

  /** Whether calls of families without markup can begin at `at`. */
  function verdictAt(at: number, here: readonly Family[]): 'no' | 'maybe' | 'yes' {
    const verdicts = here.map((family) => family.begins?.(kept, at, tools))
    return verdicts.includes('yes') ? 'yes' : verdicts.includes('maybe') ? 'maybe' : 'no'
  }

  function showUpTo(end: number): string {
    const text = kept.slice(shown, end)
    const newline = text.lastIndexOf('\n')
    if (newline !== -1) {
      const next = shown + newline + 1
      place = placeAfter(kept.slice(line, next), place)
      line = next
    }
    shown = Math.max(shown, end)
    fresh &&= text.trim() === ''
    return visible(text)
  }

  /** White space at the beginning of a reply is shown with what follows it, if anything does. */
  function visible(text: string): string {
    if (anyText) return text
    const trimmed = text.trimStart()
    anyText = trimmed !== ''
    return trimmed
  }

  function showReasoning(): Part {
    const tag = mode === 'opening' ? THINK_END : close
    const at = kept.indexOf(tag, shown)
    const text = kept.slice(shown, at === -1 ? kept.length - partial(kept.slice(shown), tag) : at)
    shown += text.length
    if (at === -1) {
      if (mode === 'opening') opened.push(text)
      return { text, more: false }
    }
    mode = 'text'
    restart(at + tag.length)
    return { text, more: true }
  }

  /** What comes after reasoning is a text of its own: nothing in the thinking quotes it. */
  function restart(at: number): void {
    kept = kept.slice(at)
    shown = line = 0
    fresh = true
    place = OUTSIDE
  }

  const isQuoted = (at: number, where: Place): boolean => quotedBetween(kept.slice(Math.max(0, at - REACH), at), '', where) !== undefined

  /** Up to where nothing that has only begun can be a block. */
  function safeEnd(): number {
    let end = kept.length
    for (let at = Math.max(shown, kept.length - triggers.longest + 1); at < end; at++) {
      const texts = triggers.byFirst.get(kept[at] as string)
      if (texts?.some((text) => text.length > kept.length - at && text.startsWith(kept.slice(at)))) end = at
    }
    return named.length > 0 ? Math.max(shown, nameStart(end)) : end
  }

  /** Where the line of `end` begins, if it may be a tool's name and the beginning of a block; else `end`. */
  function nameStart(end: number): number {
    const offset = Math.max(0, end - MAX_NAME * 3)
    const near = kept.slice(offset, end)
    const last = near.lastIndexOf('\n')
    const word = near.slice(last + 1).trim()
    if (word.length > MAX_NAME || (word === '' && last === -1)) return end
    if (word !== '') return tools.names.some((name) => name.startsWith(word)) || tools.exact(word) ? offset + last + 1 : end
    const start = near.lastIndexOf('\n', last - 1) + 1
    return tools.exact(near.slice(start, last).trim()) ? offset + start : end
  }

  /** Lets go of what was shown and quotes nothing any more. */
  function trim(): void {
    if (mode === 'opening' || mode === 'reasoning') restart(shown)
    if (shown < REACH * 2) return
    const cut = Math.max(kept.lastIndexOf('\n', shown - REACH) + 1, shown - REACH)
    // What is left of a very long line does not begin one.
    const inside = cut > line ? '.' : ''
    kept = inside + kept.slice(cut)
    shown -= cut - inside.length
    line = Math.max(0, line - cut)
  }

  function end(): ReadReply {
    kept += held.join('')
    if (mode === 'opening') {
      // The tag never came: it may have been no reasoning, so it is shown; of its calls only those are made that thinking may hold.
      kept = opened.join('') + kept.slice(shown)
      restart(0)
      if (callsInReasoning(kept, tools, families).length === 0) return { text: visible(kept), reasoning: '', calls: [], quoted: [] }
    }
    if (mode === 'reasoning') return { text: '', reasoning: kept.slice(shown), calls: [], quoted: [] }
    if (shown === kept.length) return { ...NOTHING, calls: [], quoted: [] }
    const hunt = { source: sourceOf(kept, tools), triggers, named, whole, lines: linesOf(kept, place, line), announces }
    const { pieces, quoted } = piecesOf(hunt, shown, fresh)
    return readPieces(pieces, quoted)
  }

  function readPieces(pieces: readonly Piece[], quoted: readonly Quoted[]): ReadReply {
    const calls: TextCall[] = []
    let text = ''
    let reasoning = ''
    let marked = false
    for (const [at, piece] of pieces.entries()) {
      const raw = kept.slice(piece.start, piece.end)
      if (piece.kind === 'reasoning') reasoning += raw
      else if (piece.kind === 'markup') {
        marked = true
        const { block, family } = piece
        const torn = !block.complete && isTorn(pieces[at + 1])
        for (const call of block.calls) calls.push(textCall(torn ? { ...call, cutOff: true } : call, family, block, raw, tools, asks))
      } else if (!marked) text += visible(raw)
      else if (!isTorn(piece)) {
        // White space between calls and after them, what ends a turn, and lone tags of calls belong to nobody.
        const left = raw.replace(END_TOKENS, '').replace(LONE_TAGS, '')
        if (left.trim() !== '') text += visible(left)
      }
    }
    return { text, reasoning, calls, quoted: quoted.map(({ start, end, why, open }) => ({ raw: kept.slice(start, end), why, open })) }
  }

  /** The text ended inside a tag. */
  const isTorn = (piece: Piece | undefined): boolean =>
    piece?.kind === 'text' &&
    piece.end === kept.length &&
    /^\s*<[^<>]{0,200}$/.test(kept.slice(piece.start, Math.min(piece.end, piece.start + 300)))

  return { push, end }
}

/** How many characters at the end of `text` begin `tag`. */
function partial(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--)
    if (tag.startsWith(text.slice(text.length - length))) return length
  return 0
}

const piecesOfThinking = (text: string, tools: ToolIndex, families: readonly Family[], whole: readonly Family[] = []) =>
  piecesOf(
    { source: sourceOf(text, tools), triggers: cachedTriggers(families), named: [], whole, lines: linesOf(text) },
    0,
    whole.length > 0,
  )

/** What looks like a call in thinking. */
export function seenInThinking(text: string, tools: ToolIndex, families: readonly Family[]): readonly string[] {
  const whole = families.filter(({ begins }) => begins)
  const { pieces, quoted } = piecesOfThinking(text, tools, families, whole)
  const isCall = (piece: Piece): boolean => piece.kind === 'markup' && piece.block.calls.some(({ name }) => tools.resolve(name))
  return [...new Set([...pieces.filter(isCall), ...quoted].map(({ start, end }) => text.slice(start, end)))]
}

/**
 * Calls that a model made inside its thinking and then stopped. For a reply that has nothing else: only reads, only in
 * complete and undamaged markup, and only where the thinking ends with them. Whatever else looks like a call there is a plan.
 */
export function callsInReasoning(reasoning: string, tools: ToolIndex, families: readonly Family[]): readonly TextCall[] {
  const { pieces } = piecesOfThinking(reasoning, tools, families)
  const calls: TextCall[] = []
  for (const piece of pieces.toReversed()) {
    if (piece.kind === 'text' && reasoning.slice(piece.start, piece.end).trim() === '') continue
    if (piece.kind !== 'markup' || !piece.family.strong) break
    const raw = reasoning.slice(piece.start, piece.end)
    calls.unshift(...piece.block.calls.map((call) => textCall(call, piece.family, piece.block, raw, tools)))
  }
  return calls.every(({ tool, canonical, cutOff, unread }) => tool?.effect === 'read' && canonical && !cutOff && unread === undefined)
    ? calls
    : []
}
