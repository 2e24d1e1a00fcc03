/**
 * Reads a reply as it streams in. Text that can be shown is returned at once; possible calls are held back until the reply ends. Text
 * that was returned is never taken back.
 */

import { skip } from '../text.ts'
import type { ToolSpec } from '../tool-spec.ts'
import { MAX_NAME, nameOf, REACH } from './blocks.ts'
import type { Family, ToolIndex } from './family.ts'
import { linesOf, OUTSIDE, type Place, placeAfter, quotedBetween } from './place.ts'
import {
  NOTHING,
  type ReaderOptions,
  type ReadReply,
  type ReplyReader,
  readFrom,
  readUnclosed,
  type Shown,
  THINK_END,
  wholeReader,
} from './read-reply.ts'
import { indexTools } from './source.ts'
import { cachedTriggers, hitsIn, RARE_OR_LINE } from './triggers.ts'

/** The number of reasoning marks handled while streaming. A reply with more of them is processed in one pass at the end. */
const MAX_MARKS = 16

/** What a reader has to know about its families. */
function traitsOf(families: readonly Family[]) {
  const triggers = cachedTriggers(families)
  const texts = [...new Set([...triggers.needles.values()].flat())].map(({ text }) => text)
  const byFirst = Map.groupBy(texts, (text) => asciiOf(text.charCodeAt(0)))
  return {
    triggers,
    /** Every opener and mark by the code of its first character; by 0 if that is not ASCII. */
    openers: Array.from({ length: 128 }, (_, code) => byFirst.get(code)),
    /** Characters of the longest of them. */
    longest: Math.max(...texts.map(({ length }) => length)),
    named: families.filter(({ afterName }) => afterName),
    whole: families.filter(({ begins }) => begins),
  }
}

const asciiOf = (code: number): number => (code < 128 ? code : 0)

const known = new WeakMap<readonly Family[], ReturnType<typeof traitsOf>>()
function cachedTraits(families: readonly Family[]): ReturnType<typeof traitsOf> {
  const traits = known.get(families) ?? traitsOf(families)
  known.set(families, traits)
  return traits
}

export function createReplyReader(tools: ToolIndex, options: ReaderOptions): ReplyReader {
  const { families, opensInReasoning, whole: isWhole } = options
  if (isWhole) return wholeReader(tools, options)
  const { triggers, openers, longest, named, whole } = cachedTraits(families)
  /** The end of the text already shown, plus everything not yet shown. */
  let kept = ''
  let shown = 0
  /** Start of the line where the unshown text begins, and what is open there. */
  let line = 0
  let place: Place = OUTSIDE
  let mode: 'opening' | 'text' | 'reasoning' | 'held' = opensInReasoning ? 'opening' : 'text'
  let close = THINK_END
  let anyText = false
  /** Only white space has been shown since the text began, so the whole text may consist of calls. */
  let fresh = true
  let marks = 0
  /** The closing tag of a tag that is part of the text. */
  let inside: string | undefined
  const held: string[] = []
  /** Text shown as reasoning that may turn out to be the answer. */
  let opened = ''
  let out = { text: '', reasoning: '' }
  /** Everything is shown, and the line is longer than the name of every tool, so that it can't become one. */
  let isProse = false
  /** Text that was shown without a closer look, and is not in `kept` yet. */
  let behind = ''

  function push(delta: string): Shown {
    if (mode === 'held') {
      held.push(delta)
      return { text: '', reasoning: '' }
    }
    if (isProse && !RARE_OR_LINE.test(delta) && beginning(delta, 0) === delta.length) {
      behind += delta
      return { text: delta, reasoning: '' }
    }
    catchUp()
    kept += delta
    out = { text: '', reasoning: '' }
    while (showMore());
    trim()
    isProse = mode === 'text' && !fresh && shown === kept.length && kept.slice(line).trim().length > tools.longestName
    return out
  }

  function catchUp(): void {
    kept += behind
    shown += behind.length
    behind = ''
  }

  const showMore = (): boolean => (mode === 'text' ? showText() : mode !== 'held' && showReasoning())

  /** Shows text up to the first place where a block may begin. Returns true if more can be shown after it. */
  function showText(): boolean {
    if (fresh) {
      const verdict = verdictAt(skip(kept, shown), whole)
      if (verdict === 'yes') mode = 'held'
      if (verdict !== 'no') return false
    }
    const hits = hitsIn(kept, triggers, shown)
    const end = safeEnd()
    let hit = hits.next()
    // Most texts have no hit.
    const lines = hit && linesOf(kept, place, line)
    for (; hit && lines && hit.at < end; hit = hits.next()) {
      const { at, mark, families: here } = hit
      if (at < shown) continue
      if (mark) {
        if (quotedBetween(kept.slice(Math.max(0, at - REACH), at), '', lines.placeAt(at)) !== undefined) continue
        if (mark.kind === 'open' && mark.isWord && !(fresh && kept.slice(shown, at).trim() === '')) {
          inside ??= mark.close
          continue
        }
        if (mark.text === inside) {
          inside = undefined
          continue
        }
        showUpTo(at)
        mode = ++marks > MAX_MARKS ? 'held' : mark.kind === 'open' ? 'reasoning' : 'text'
        if (marks > MAX_MARKS) return false
        if (mark.kind === 'open') close = mark.close
        restart(at + mark.text.length)
        return true
      }
      const name = nameOf({ source: { text: kept, tools }, named, lines }, at)
      const start = name !== undefined && name >= shown ? name : at
      const verdict = start !== at || here.some(({ begins }) => !begins) ? 'yes' : verdictAt(at, here)
      // Inside a fence everything that follows is quoted too. Other kinds of quotation are decided at the end.
      if (verdict === 'no' || (verdict === 'yes' && lines.placeAt(start).fence !== undefined)) continue
      if (verdict === 'yes') mode = 'held'
      showUpTo(verdict === 'yes' ? start : Math.min(start, end))
      return false
    }
    showUpTo(end)
    return false
  }

  /** Returns whether calls of families without markup can begin at `at`. */
  function verdictAt(at: number, here: readonly Family[]): 'no' | 'maybe' | 'yes' {
    const verdicts = here.map((family) => family.begins?.(kept, at, tools))
    return verdicts.includes('yes') ? 'yes' : verdicts.includes('maybe') ? 'maybe' : 'no'
  }

  function showUpTo(end: number): void {
    const text = kept.slice(shown, end)
    const newline = text.lastIndexOf('\n')
    if (newline !== -1) {
      const next = shown + newline + 1
      place = placeAfter(kept.slice(line, next), place)
      line = next
    }
    shown = Math.max(shown, end)
    fresh &&= text.trim() === ''
    out.text += visible(text)
  }

  /** Holds back white space at the start of a reply until visible text follows. */
  function visible(text: string): string {
    if (anyText) return text
    const trimmed = text.trimStart()
    anyText = trimmed !== ''
    return trimmed
  }

  function showReasoning(): boolean {
    const at = kept.indexOf(close, shown)
    const text = kept.slice(shown, at === -1 ? kept.length - partial(kept.slice(shown), close) : at)
    shown += text.length
    out.reasoning += text
    if (at === -1) {
      if (mode === 'opening') opened += text
      return false
    }
    mode = 'text'
    restart(at + close.length)
    return true
  }

  /** Starts a new text after reasoning, which cannot quote what follows it. */
  function restart(at: number): void {
    kept = kept.slice(at)
    shown = line = 0
    fresh = true
    place = OUTSIDE
  }

  /** Returns the position up to which no partial text can become a block. */
  function safeEnd(): number {
    const end = beginning(kept, shown)
    return named.length > 0 ? Math.max(shown, nameStart(end)) : end
  }

  /** Returns where the beginning of an opener stands at the end of a text; its length if there is none. */
  function beginning(text: string, from: number): number {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++)
      if (openers[asciiOf(text.charCodeAt(at))]?.some((opener) => opener.length > text.length - at && opener.startsWith(text.slice(at))))
        return at
    return text.length
  }

  /** Returns the start of the line of `end` if that line may be a tool name that begins a block; otherwise `end`. */
  function nameStart(end: number): number {
    const offset = Math.max(0, end - MAX_NAME * 3)
    const near = kept.slice(offset, end)
    const last = near.lastIndexOf('\n')
    const word = near.slice(last + 1).trim()
    if (word.length > Math.min(MAX_NAME, tools.longestName) || (word === '' && last === -1)) return end
    if (word !== '') return tools.names.some((name) => name.startsWith(word)) || tools.exact(word) ? offset + last + 1 : end
    const start = near.lastIndexOf('\n', last - 1) + 1
    return tools.exact(near.slice(start, last).trim()) ? offset + start : end
  }

  /** Discards shown text that can no longer affect quoting. */
  function trim(): void {
    if (mode === 'opening' || mode === 'reasoning') restart(shown)
    if (shown < REACH * 2) return
    const cut = Math.max(kept.lastIndexOf('\n', shown - REACH) + 1, shown - REACH)
    // The rest of a very long line is not the start of a line.
    const inside = cut > line ? '.' : ''
    kept = inside + kept.slice(cut)
    shown -= cut - inside.length
    line = Math.max(0, line - cut)
  }

  function end(): ReadReply {
    catchUp()
    kept += held.join('')
    if (mode === 'opening') return readUnclosed(opened + kept.slice(shown), tools, options)
    if (mode === 'reasoning') return { ...NOTHING, reasoning: kept.slice(shown) }
    return shown === kept.length
      ? NOTHING
      : readFrom(kept, tools, options, { shown, fresh, anyText, inside, lines: linesOf(kept, place, line) })
  }

  return { push, end }
}

/** Returns false if a complete text is certain to hold no call and no reasoning, so that it is shown as it is. */
export function canHoldCalls(text: string, tools: readonly ToolSpec[], families: readonly Family[]): boolean {
  const index = indexTools(tools)
  const begins = (family: Family): boolean => family.begins !== undefined && family.begins(text, skip(text, 0), index) !== 'no'
  return hitsIn(text, cachedTriggers(families)).next() !== undefined || (text.trim() !== '' && families.some(begins))
}

/** Returns how many characters at the end of `text` match the start of `tag`. */
function partial(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--)
    if (tag.startsWith(text.slice(text.length - length))) return length
  return 0
}
