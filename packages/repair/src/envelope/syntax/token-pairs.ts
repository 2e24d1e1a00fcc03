/** Families that write every parameter between tokens of their own: its name, its value as it stands, and an end. */
import type { Block, Source, TextEntry } from '../family.ts'
import { nearest, skip, standing } from './json-extent.ts'
import { blockOf, type CallRead, Draft, endsAt, endsClosedAt, matchAt } from './tags.ts'

/** All expressions are sticky. */
export interface PairGrammar {
  /** Before the first call, and after the last. */
  readonly begin?: RegExp
  readonly end?: RegExp
  /** Begins a call: its name is the first group. */
  readonly call: RegExp
  readonly callEnd: RegExp
  /** Begins a value: its key, and how it says that it is written. */
  readonly parameter: RegExp
  readonly valueEnds: readonly string[]
  /** A value that came to one of these has lost its end. */
  readonly stops: readonly string[]
  /** Begins a value that is all arguments as one object. */
  readonly whole?: RegExp
  readonly unescape?: (text: string) => string
}

export function readTokenPairs(source: Source, at: number, grammar: PairGrammar): Block | undefined {
  const { text } = source
  const begin = grammar.begin && matchAt(grammar.begin, text, at)
  const calls: CallRead[] = []
  let end = at + (begin?.[0].length ?? 0)
  for (;;) {
    const next = skip(text, end)
    if (begin && calls.length === 0 && endsAt(text, next)) return { calls: [], end: text.length, complete: false }
    const head = matchAt(grammar.call, text, next)
    if (!head?.[1]) break
    const call = readCall(source, next + head[0].length, unescaped(head[1], grammar), grammar)
    calls.push(call)
    end = call.end
  }
  const closing = grammar.end && calls.length > 0 ? matchAt(grammar.end, text, end) : undefined
  return blockOf(calls, end + (closing?.[0].length ?? 0), calls.at(-1)?.closed === true)
}

/** No parameter has this name. */
const WHOLE = ''

function readCall(source: Source, from: number, name: string, grammar: PairGrammar): CallRead {
  const { text } = source
  const draft = new Draft(name, WHOLE)
  for (let at = skip(text, from); ; at = skip(text, at)) {
    const close = matchAt(grammar.callEnd, text, at)
    if (close) return draft.done(at + close[0].length, true)
    const whole = grammar.whole && matchAt(grammar.whole, text, at)
    const head = whole ?? matchAt(grammar.parameter, text, at)
    const key = whole ? WHOLE : head?.[1]
    if (!head || key === undefined) {
      if (draft.size > 0 && (endsClosedAt(text, at) || endsAt(text, at))) return draft.done(text.length, false)
      if (endsAt(text, at)) return draft.cutOff(text)
      return draft.size > 0 ? draft.done(at, false) : draft.unreadable(text.slice(from, at), at)
    }
    const value = at + head[0].length
    const found = endOfValue(source, value, grammar)
    if (!found) return draft.cutOff(text)
    draft.doubted(found.damage)
    draft.add({ key: unescaped(key, grammar), text: text.slice(value, found.end), ...writtenAs(whole ? undefined : head[2]) })
    at = found.next
  }
}

const unescaped = (text: string, grammar: PairGrammar): string => grammar.unescape?.(text) ?? text

function writtenAs(type: string | undefined): Pick<TextEntry, 'as'> {
  return type === undefined ? {} : { as: type === 'string' ? 'text' : 'json' }
}

/** How many ends are looked at for the one that markup follows: others are quoted in the value. */
const LOOKAHEAD = 32

interface ValueEnd {
  readonly end: number
  readonly next: number
  readonly damage?: string
}

/** Undefined: the text ends inside. */
function endOfValue(source: Source, from: number, grammar: PairGrammar): ValueEnd | undefined {
  const { text } = source
  const { valueEnds, stops } = grammar
  const stop = nearest(source, stops, from)
  let likely: ValueEnd | undefined
  let at = nearest(source, valueEnds, from)
  for (let left = LOOKAHEAD; at !== -1 && left > 0; left--, at = nearest(source, valueEnds, at + 1)) {
    if (!likely && stop !== -1 && stop < at) break
    const next = at + standing(text, at, valueEnds).length
    if (goesOn(text, skip(text, next), grammar)) return { end: at, next, ...(likely && { damage: 'a value held a closing tag' }) }
    likely ??= { end: at, next, damage: 'something stood after a value' }
  }
  return likely ?? (stop === -1 ? undefined : { end: stop, next: stop, damage: 'the closing tag of a value was missing' })
}

const goesOn = (text: string, at: number, { callEnd, parameter, call }: PairGrammar): boolean =>
  endsAt(text, at) || [callEnd, parameter, call].some((pattern) => matchAt(pattern, text, at) !== undefined)
