/** Calls from a text that should be JSON. Broken JSON still gives name and arguments apart, so that the tool decides about mending. */

import { parseJson } from '../../arguments/brackets.ts'
import { isRecord } from '../../schema/validate.ts'
import type { MarkupCall, RawArguments, Source } from '../family.ts'
import { argumentsOf, callsOf, NAMES, nameless } from './call-object.ts'
import { type Extent, isInString, jsonExtent, nearest, skip, standing } from './json-extent.ts'
import { type Cursor, readLiteral, stringEnd } from './python.ts'

export interface CallsText {
  readonly calls: readonly MarkupCall[]
  readonly end: number
  /** Nothing was still open where it ends. */
  readonly whole: boolean
  /** Where each object or list of the row begins: from there on, the rest of it reads the same. */
  readonly starts: readonly Start[]
}

interface Start {
  readonly at: number
  /** How many calls stand before it. */
  readonly calls: number
}

const HEAD = new RegExp(
  [
    String.raw`\{\s*(?:["']?(?:id|type|index|tool_call_id)["']?\s*:\s*(?:"[^"]{0,200}"|'[^']{0,200}'|\d+)\s*,\s*){0,4}`,
    String.raw`(?:["']?function["']?\s*:\s*\{\s*)?["'“]?(?:${NAMES.join('|')})["'”]?\s*:\s*`,
    String.raw`["'“]([^"'“”\n]{1,200})["'”]\s*(?:,\s*["'“]?(arguments|parameters|args|input)["'”]?\s*:\s*)?`,
  ].join(''),
  'y',
)
const ARGUMENTS_FIRST = /\{\s*"(?:arguments|parameters)"\s*:\s*/y
const NAME_LAST = /\s*,\s*"(?:name|tool_name)"\s*:\s*"([^"\n]{1,200})"/y

/** The name in an object that looks like a call, and where its arguments begin, if it says so. */
export function headAt(text: string, at: number): { readonly name: string; readonly end: number; readonly arguments: boolean } | undefined {
  HEAD.lastIndex = at
  const found = HEAD.exec(text)
  return found ? { name: found[1] as string, end: HEAD.lastIndex, arguments: found[2] !== undefined } : undefined
}

/**
 * Reads the calls from `at` on: an object, a list, or several in a row.
 * @param stops markup at which even broken JSON ends
 */
export function readCalls(source: Source, at: number, stops: readonly string[]): CallsText {
  const calls: MarkupCall[] = []
  const starts: Start[] = []
  const { end, whole } = readRow(source, at, [...stops, '\n{'], calls, starts)
  return { calls, end, whole, starts }
}

type Read = Pick<CallsText, 'end' | 'whole'>

/** @param starts absent in a list, which holds no other */
function readRow(source: Source, at: number, stops: readonly string[], calls: MarkupCall[], starts?: Start[]): Read {
  const { text } = source
  for (let end = at; ; ) {
    const next = skip(text, end, ' \t\r\n,;')
    const isList = text[next] === '[' && starts !== undefined && (next === at || text[skip(text, next + 1)] === '{')
    if (text[next] !== '{' && !isList) return { end, whole: true }
    starts?.push({ at: next, calls: calls.length })
    const read = isList ? readList(source, next, stops, calls) : readOne(source, next, stops, calls)
    if (!read.whole) return read
    end = read.end
  }
}

function readList(source: Source, at: number, stops: readonly string[], calls: MarkupCall[]): Read {
  const { text } = source
  const extent = jsonExtent(source, at)
  const value = strict(text, at, extent)
  if (value !== undefined) {
    calls.push(...callsOf(value, source.tools))
    return { end: extent.end, whole: true }
  }
  const inner = readRow(source, at + 1, stops, calls)
  const end = skip(text, inner.end, ' \t\r\n,')
  if (!inner.whole) return inner
  if (text[end] === ']') return { end: end + 1, whole: true }
  // A call that lost its brace took the bracket of the list for it.
  if (text[inner.end - 1] === ']' && calls.at(-1)?.damage !== undefined) return inner
  return { end: inner.end, whole: standing(text, end, stops) !== '' }
}

function readOne(source: Source, at: number, stops: readonly string[], calls: MarkupCall[]): Read {
  const { text } = source
  const extent = jsonExtent(source, at)
  const value = strict(text, at, extent)
  if (value !== undefined) {
    calls.push(...callsOf(value, source.tools))
    return { end: extent.end, whole: true }
  }
  const doubled = extent.closed && text[at + 1] === '{' ? parseJson(text.slice(at + 1, extent.end - 1)) : undefined
  if (doubled !== undefined) {
    calls.push(...callsOf(doubled, source.tools).map((call) => ({ ...call, damage: 'its braces were doubled' })))
    return { end: extent.end, whole: true }
  }
  const written = headAt(text, at) || argumentsFirst(source, at, text.length) ? undefined : pythonDict(source, at)
  if (written) {
    calls.push(...written.calls)
    return { end: written.end, whole: true }
  }
  const { end, cut } = brokenEnd(source, at, extent, stops)
  calls.push(broken(source, at, end, cut))
  return { end, whole: !cut }
}

/** `{'arguments': {…}, "name": 'f'}`: its name is found only when all of it is read. */
function pythonDict({ text, tools }: Source, at: number): { readonly calls: readonly MarkupCall[]; readonly end: number } | undefined {
  const cursor: Cursor = { text, at, cut: false }
  const calls = callsOf(readLiteral(cursor)?.value, tools)
  if (calls.some(({ arguments: given }) => given.kind === 'unread')) return undefined
  const unsure = text[skip(text, at + 1)] === "'" ? {} : { unsure: true as const }
  return { calls: calls.map((call) => ({ ...call, damage: 'it was written as a Python dict', ...unsure })), end: cursor.at }
}

const strict = (text: string, at: number, extent: Extent): unknown => (extent.closed ? parseJson(text.slice(at, extent.end)) : undefined)

/** How many places of markup are looked at for the end of broken JSON. */
const PLACES = 8

/**
 * Where broken JSON ends. Its quotes are in doubt, and with them what its brackets say: markup right after a closing bracket ends
 * it first of all, so that two broken calls don't become one; markup elsewhere may stand inside a string.
 */
function brokenEnd(source: Source, at: number, extent: Extent, stops: readonly string[]): { readonly end: number; readonly cut: boolean } {
  const { text } = source
  const limit = extent.closed ? extent.end : text.length
  let first = -1
  for (
    let stop = nearest(source, stops, at + 1), n = 0;
    stop !== -1 && stop < limit && n < PLACES;
    stop = nearest(source, stops, stop + 1), n++
  ) {
    if (endsHere(text, stop) || (isPair(text, stop, stops) && !isInString(text, at, stop))) return { end: stop, cut: false }
    if (first === -1 && text[stop] !== '\n') first = stop
  }
  if (extent.closed) {
    const next = skip(text, extent.end, ' \t\r\n,;`}')
    const followed = next === text.length || text[next] === '{' || text[next] === ']' || standing(text, next, stops) !== ''
    const stop = first === -1 && !followed ? nearest(source, stops, extent.end) : first
    return { end: followed || stop === -1 ? extent.end : stop, cut: false }
  }
  // Inside a string to the last: the text was cut off, and its markup is part of what was being written.
  return first === -1 || isInString(text, at, first) ? { end: text.length, cut: true } : { end: first, cut: false }
}

/** One call ends at `stop` and the next begins: a brace that is missing before it does not make them one. */
function isPair(text: string, stop: number, stops: readonly string[]): boolean {
  const first = standing(text, stop, stops)
  return !first.startsWith('\n') && standing(text, skip(text, stop + first.length), stops) !== ''
}

function endsHere(text: string, stop: number): boolean {
  if (text.startsWith('\n{"name"', stop)) return true
  let last = stop - 1
  while (last > 0 && ' \t\r\n,;`'.includes(text[last] as string)) last--
  return text[last] === '}' || text[last] === ']'
}

function broken(source: Source, at: number, end: number, cut: boolean): MarkupCall {
  const { text } = source
  const cutOff = cut ? ({ cutOff: true } as const) : {}
  const head = headAt(text, at)
  if (head && head.end <= end) {
    const rest = head.arguments ? innerArguments(source, head.end, end, cut) : argumentsOf(undefined)
    const closed = rest.kind === 'json' && !cut ? withBrackets(rest.text) : undefined
    if (closed !== undefined)
      return { name: head.name, arguments: { kind: 'json', text: closed }, damage: 'its closing brackets were missing', unsure: true }
    return { name: head.name, arguments: rest, ...cutOff, ...(!cut && { damage: 'the JSON of the call was broken' }) }
  }
  return { ...(argumentsFirst(source, at, end) ?? nameless(text.slice(at, end).trim())), ...cutOff }
}

/** An object with the brackets that it lacks at its end; undefined where none are missing, or a value is. */
function withBrackets(text: string): string | undefined {
  const open: string[] = []
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string
    if (character === '"') {
      const end = stringEnd(text, i + 1, '"')
      if (end === -1) return undefined
      i = end
    } else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']')
    else if ((character === '}' || character === ']') && open.pop() !== character) return undefined
  }
  return text.startsWith('{') && open.length > 0 && /["\w}\]]$/.test(text) ? text + open.toReversed().join('') : undefined
}

/** The text of the arguments in a broken call: without the bracket of the call itself. */
function innerArguments(source: Source, at: number, end: number, cut: boolean): RawArguments {
  const { text } = source
  const rest = text.slice(at, end).trim()
  if (cut) return { kind: 'json', text: rest }
  if (rest.startsWith('{')) {
    const extent = jsonExtent(source, at)
    if (extent.closed && extent.end <= end && /^\s*(?:[}\],;]|$)/.test(text.slice(extent.end, end)))
      return { kind: 'json', text: text.slice(at, extent.end) }
  }
  const own = rest.replace(/(?<=\}\s*['"]?\s*)\}$/, '').trim()
  const quoted = /^'([\s\S]*)'$/.exec(own)
  if (quoted) return { kind: 'json', text: quoted[1] as string }
  const decoded = own.startsWith('"') ? parseJson(own) : undefined
  return decoded === undefined ? { kind: 'json', text: own } : argumentsOf(decoded)
}

function argumentsFirst(source: Source, at: number, end: number): MarkupCall | undefined {
  ARGUMENTS_FIRST.lastIndex = at
  if (!ARGUMENTS_FIRST.test(source.text)) return undefined
  const from = ARGUMENTS_FIRST.lastIndex
  const extent = jsonExtent(source, from)
  NAME_LAST.lastIndex = extent.end
  const name = extent.closed && extent.end < end ? NAME_LAST.exec(source.text)?.[1] : undefined
  if (name === undefined) return undefined
  return { name, arguments: { kind: 'json', text: source.text.slice(from, extent.end) }, damage: 'the JSON of the call was broken' }
}

export interface ArgumentsText {
  readonly arguments: RawArguments
  readonly end: number
  readonly cut: boolean
}

const FENCE = /\s*```(?:json)?\s*/y

/** Reads the arguments of a call whose name stands elsewhere: an object, in a fence or not. Undefined: no object begins here. */
export function readArguments(source: Source, at: number, stops: readonly string[]): ArgumentsText | undefined {
  const { text } = source
  FENCE.lastIndex = at
  const fenced = FENCE.test(text)
  const from = fenced ? FENCE.lastIndex : skip(text, at)
  if (from >= text.length) return { arguments: { kind: 'json', text: '' }, end: text.length, cut: true }
  if (standing(text, from, stops)) return { arguments: argumentsOf(undefined), end: from, cut: false }
  if (text[from] !== '{') return undefined
  const extent = jsonExtent(source, from)
  const value = strict(text, from, extent)
  const bound =
    value === undefined ? brokenEnd(source, from, extent, fenced ? [...stops, '\n```'] : stops) : { end: extent.end, cut: false }
  const raw = text.slice(from, bound.end).trim()
  const read: RawArguments = isRecord(value) ? { kind: 'object', value } : { kind: 'json', text: raw }
  return { arguments: read, end: fenced ? afterFence(text, bound.end) : bound.end, cut: bound.cut }
}

function afterFence(text: string, at: number): number {
  const next = skip(text, at)
  return text.startsWith('```', next) ? next + 3 : at
}
