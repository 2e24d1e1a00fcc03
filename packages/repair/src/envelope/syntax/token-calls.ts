/** Families that write a call between tokens, its name first and the JSON of its arguments after it. */
import type { Block, MarkupCall, Source } from '../family.ts'
import { readArguments } from './call-text.ts'
import { afterCloser, nearest, skip, standing } from './json-extent.ts'

export interface TokenGrammar {
  /** Before the first call. */
  readonly begin: readonly string[]
  /** Before each call. */
  readonly call: string
  readonly callEnd: readonly string[]
  /** After the last call, in any number. */
  readonly end: readonly string[]
  /** What stands between the token of the call and its arguments. */
  readonly header: (text: string, at: number) => TokenHeader | undefined
}

export interface TokenHeader {
  readonly name: string
  readonly id?: string
  readonly end: number
  readonly damage?: string
}

/** A header that the text ends in: it may end in a token. */
const CUT = /^[^\s<{]{0,200}(?:<[^\s<>]{0,40})?$/

export function readTokenCalls(source: Source, at: number, grammar: TokenGrammar): Block | undefined {
  const { text } = source
  const stops = [...grammar.callEnd, ...grammar.end, grammar.call, ...grammar.begin]
  const section = standing(text, at, grammar.begin)
  const calls: MarkupCall[] = []
  let end = at + section.length
  for (;;) {
    const next = skip(text, end)
    const opened = text.startsWith(grammar.call, next)
    if (!opened && (calls.length > 0 || !section)) break
    const from = opened ? next + grammar.call.length : next
    const header = grammar.header(text, from)
    if (!header) {
      if (CUT.test(text.slice(from, from + 256))) return { calls, end: text.length, complete: false }
      break
    }
    const { call, end: after, cut } = readCall(source, header, stops)
    calls.push(call)
    if (cut) return { calls, end: text.length, complete: false }
    const close = skip(text, after, ' \t\r\n}`')
    const closed = afterCloser(text, close, grammar.callEnd)
    end = closed > close ? closed : after
  }
  if (calls.length === 0) return undefined
  for (;;) {
    const next = skip(text, end)
    const closed = afterCloser(text, next, grammar.end)
    if (closed === next) return { calls, end, complete: true }
    end = closed
  }
}

function readCall(source: Source, header: TokenHeader, stops: readonly string[]): { call: MarkupCall; end: number; cut: boolean } {
  const { text } = source
  const { name, id, damage, end } = header
  const known = { name, ...(id !== undefined && { id }), ...(damage !== undefined && { damage }) }
  const read = readArguments(source, end, stops)
  if (read) return { call: { ...known, arguments: read.arguments, ...(read.cut && { cutOff: true }) }, end: read.end, cut: read.cut }
  const stop = nearest(source, stops, end)
  const cut = stop === -1
  const raw = { kind: 'json', text: text.slice(end, cut ? text.length : stop).trim() } as const
  return { call: { ...known, arguments: raw, ...(cut && { cutOff: true }) }, end: cut ? text.length : stop, cut }
}
