/**
 * Reads calls from text that should be JSON. In broken JSON, the name and the arguments are still separated, so that the tool decides
 * about repairs.
 */

import { isRecord } from '../../schema/validate.ts'
import { matchAt, parseJson, past, skip, stringEnd, tokenAt } from '../../text.ts'
import type { CallsRead, MarkupCall, RawArguments, Source } from '../family.ts'
import { argumentsOf, callsOf, NAMES, nameless } from './call-object.ts'
import { afterNoise, type Extent, isInString, jsonExtent, nearest } from './closers.ts'
import { type Cursor, readLiteral } from './python.ts'

/** A position and the number of calls before it. */
type Start = Readonly<Record<'at' | 'calls', number>>

const HEAD = new RegExp(
  [
    String.raw`\{\s*(?:["']?(?:id|type|index|tool_call_id)["']?\s*:\s*(?:"[^"]{0,200}"|'[^']{0,200}'|\d+)\s*,\s*){0,4}`,
    String.raw`(?:["']?function["']?\s*:\s*\{\s*)?["'\u201c]?(?:${NAMES.join('|')})["'\u201d]?\s*:\s*`,
    String.raw`["'\u201c]([^"'\u201c\u201d\n]{1,200})["'\u201d]\s*(?:,\s*["'\u201c]?(arguments|parameters|args|input)["'\u201d]?\s*:\s*)?`,
  ].join(''),
  'y',
)
export const ARGUMENTS_FIRST = /\{\s*"(?:arguments|parameters)"\s*:\s*/y
const NAME_LAST = /\s*,\s*"(?:name|tool_name)"\s*:\s*"([^"\n]{1,200})"/y

/** Returns the name in an object that looks like a call, and the start of its arguments if it has any. */
export function headAt(text: string, at: number) {
  const found = matchAt(HEAD, text, at)
  return found && { name: found[1] as string, end: at + found[0].length, arguments: found[2] !== undefined }
}

/**
 * Reads the calls from `at` on: an object, a list, or several in a row.
 * @param stops markup that ends even broken JSON
 */
export function readCalls(source: Source, at: number, stops: readonly string[]): CallsRead & { readonly starts: readonly Start[] } {
  const calls: MarkupCall[] = []
  const starts: Start[] = []
  return { calls, starts, ...readRow(source, at, [...stops, '\n{'], calls, starts) }
}

type Read = Pick<CallsRead, 'end' | 'whole'>

/** @param starts start of each object or list in the row; absent inside a list, which cannot contain lists */
function readRow(source: Source, at: number, stops: readonly string[], calls: MarkupCall[], starts?: Start[]): Read {
  const { text } = source
  for (let end = at; ; ) {
    const next = skip(text, end, ' \t\r\n,;')
    const isList = text[next] === '[' && starts !== undefined && (next === at || text[skip(text, next + 1)] === '{')
    if (text[next] !== '{' && !isList) return { end, whole: true }
    starts?.push({ at: next, calls: calls.length })
    const read = readItem(source, next, stops, calls)
    if (!read.whole) return read
    end = read.end
  }
}

/** Reads an object or a list of calls. */
function readItem(source: Source, at: number, stops: readonly string[], calls: MarkupCall[]): Read {
  const { text, tools } = source
  const extent = jsonExtent(source, at)
  // JSON cannot begin with two braces.
  const isDoubled = extent.closed && text.startsWith('{{', at)
  const value = isDoubled ? parseJson(text.slice(at + 1, extent.end - 1)) : strict(text, at, extent)
  const isList = text[at] === '['
  if (value !== undefined) {
    const found = callsOf(value, tools)
    calls.push(...(isDoubled ? found.map((call) => ({ ...call, damage: 'its braces were doubled' })) : found))
    return { end: extent.end, whole: true }
  }
  if (isList) return readList(source, at, stops, calls)
  const written = headAt(text, at) || argumentsFirst(source, at, text.length) ? undefined : pythonDict(source, at)
  const { end, cut } = written ? { end: written.end, cut: false } : brokenEnd(source, at, extent, stops)
  calls.push(...(written?.calls ?? [broken(source, at, end, cut)]))
  return { end, whole: !cut }
}

/** Reads a broken list by treating its content as a row. */
function readList(source: Source, at: number, stops: readonly string[], calls: MarkupCall[]): Read {
  const { text } = source
  const inner = readRow(source, at + 1, stops, calls)
  const end = skip(text, inner.end, ' \t\r\n,')
  if (!inner.whole) return inner
  if (text[end] === ']') return { end: end + 1, whole: true }
  // A call without its closing brace used up the bracket of the list.
  if (text[inner.end - 1] === ']' && calls.at(-1)?.damage !== undefined) return inner
  return { end: inner.end, whole: tokenAt(text, end, stops) !== '' }
}

/** Reads `{'arguments': {…}, "name": 'f'}`, whose name is known only once all of it has been read. */
function pythonDict({ text, tools }: Source, at: number): { readonly calls: readonly MarkupCall[]; readonly end: number } | undefined {
  const cursor: Cursor = { text, at, cut: false }
  const calls = callsOf(readLiteral(cursor)?.value, tools)
  if (calls.some(({ arguments: given }) => given.kind === 'unread')) return undefined
  const unsure = text[skip(text, at + 1)] === "'" ? {} : { unsure: true as const }
  return { calls: calls.map((call) => ({ ...call, damage: 'it was written as a Python dict', ...unsure })), end: cursor.at }
}

const strict = (text: string, at: number, extent: Extent): unknown => (extent.closed ? parseJson(text.slice(at, extent.end)) : undefined)

/** How many places with markup are checked for the end of broken JSON. */
const PLACES = 8

/**
 * Finds the end of broken JSON. Its quotes are unreliable, and so are its brackets. Markup right after a closing bracket has priority,
 * so that two broken calls do not merge into one; markup elsewhere may be inside a string.
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
    const followed = next === text.length || text[next] === '{' || text[next] === ']' || tokenAt(text, next, stops) !== ''
    const stop = first === -1 && !followed ? nearest(source, stops, extent.end) : first
    return { end: followed || stop === -1 ? extent.end : stop, cut: false }
  }
  // The text ends inside a string: it was cut off, and its markup belongs to the value being written.
  return first === -1 || isInString(text, at, first) ? { end: text.length, cut: true } : { end: first, cut: false }
}

/** Returns whether one call ends at `stop` and another begins, so that a missing brace before it does not merge them. */
function isPair(text: string, stop: number, stops: readonly string[]): boolean {
  const first = tokenAt(text, stop, stops)
  return !first.startsWith('\n') && tokenAt(text, skip(text, stop + first.length), stops) !== ''
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

/** Returns an object with its missing closing brackets added; undefined if none are missing, or a value is. */
function withBrackets(text: string): string | undefined {
  const open: string[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '"') at = stringEnd(text, at + 1, '"')
    if (at === -1 || ('}]'.includes(character) && open.pop() !== character)) return undefined
    if ('{['.includes(character)) open.push(character === '{' ? '}' : ']')
  }
  return text.startsWith('{') && open.length > 0 && /["\w}\]]$/.test(text) ? text + open.toReversed().join('') : undefined
}

/** Returns the text of the arguments in a broken call, without the bracket of the call itself. */
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
  const { text } = source
  const from = past(ARGUMENTS_FIRST, text, at)
  if (from === at) return undefined
  const extent = jsonExtent(source, from)
  const name = extent.closed && extent.end < end ? matchAt(NAME_LAST, text, extent.end)?.[1] : undefined
  if (name === undefined) return undefined
  return { name, arguments: { kind: 'json', text: text.slice(from, extent.end) }, damage: 'the JSON of the call was broken' }
}

const FENCE = /\s*```(?:json)?\s*/y

/**
 * Reads the arguments of a call whose name is known: an object, possibly in a fence. Returns undefined if no object begins here.
 * @param anything pass on arguments that are not an object as text, up to a stop
 */
export function readNamed(source: Source, known: Omit<MarkupCall, 'arguments'>, at: number, stops: readonly string[], anything = false) {
  const { text } = source
  const read = (given: RawArguments, end: number, cut = false) => {
    const call: MarkupCall = { ...known, arguments: given, ...(cut && { cutOff: true }) }
    return { call, end, whole: !cut }
  }
  const fenced = past(FENCE, text, at)
  const from = skip(text, fenced)
  if (from >= text.length) return read({ kind: 'json', text: '' }, text.length, true)
  if (tokenAt(text, from, stops)) return read(argumentsOf(undefined), from)
  if (text[from] !== '{') {
    const stop = nearest(source, stops, at)
    const end = stop === -1 ? text.length : stop
    return anything ? read({ kind: 'json', text: text.slice(at, end).trim() }, end, stop === -1) : undefined
  }
  const isFenced = fenced > at
  const extent = jsonExtent(source, from)
  const value = strict(text, from, extent)
  const { end, cut } =
    value === undefined ? brokenEnd(source, from, extent, isFenced ? [...stops, '\n```'] : stops) : { end: extent.end, cut: false }
  const given: RawArguments = isRecord(value) ? { kind: 'object', value } : { kind: 'json', text: text.slice(from, end).trim() }
  return read(given, isFenced ? afterNoise(text, end, ['```']) : end, cut)
}
