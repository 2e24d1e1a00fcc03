/** Reads Python literals and calls as models write them. Nothing is evaluated, and expressions are refused. */
import { typesOf } from '../../schema/types.ts'
import { isRecord } from '../../schema/validate.ts'
import { closing, matchAt, past, stringEnd } from '../../text.ts'
import type { CallsRead, MarkupCall, RawArguments, Source } from '../family.ts'
import { nearest } from './closers.ts'

/** The reading position. After a failure, `cut` tells whether the text merely ended. */
export interface Cursor {
  readonly text: string
  at: number
  cut: boolean
  /** Reads other values, such as calls, where a word begins. Not used in dicts. */
  call?: ((cursor: Cursor) => Literal) | undefined
}

/** A boxed value, because `None` is a value too. */
export type Literal = { readonly value: unknown } | undefined

const DEPTH = 100
const SPACE = /\s*/y
const NUMBER = /[+-]?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])/y
const WORD = /[A-Za-z_]\w*/y
/** The constants of Python and JSON. */
export const WORDS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null, true: true, false: false, null: null }
const QUOTE = /([rRuU]?)("""|'''|"|')/y

/** Reads the literal at the cursor. Returns undefined if there is none; the cursor position is then undefined. */
export function readLiteral(cursor: Cursor, depth = 0): Literal {
  space(cursor)
  const character = cursor.text[cursor.at]
  if (character === undefined || depth > DEPTH) return fail(cursor)
  if (character === '[' || character === '(') return readItems(cursor, character === '[' ? ']' : ')', depth)
  if (character === '{') return readDict(cursor, depth)
  const text = readStrings(cursor)
  if (text || cursor.cut) return text
  const number = take(cursor, NUMBER)
  if (number) {
    const value = Number(number.replaceAll('_', ''))
    // `1e999`: JSON has no infinity, and null would be a different value.
    return Number.isFinite(value) ? { value } : undefined
  }
  const from = cursor.at
  const other = cursor.call?.(cursor)
  if (other || cursor.at !== from) return other
  const word = take(cursor, WORD)
  return word === undefined || !Object.hasOwn(WORDS, word) ? fail(cursor) : { value: WORDS[word] }
}

function space(cursor: Cursor): void {
  const character = cursor.text[cursor.at] ?? ''
  // Most characters are not white space, and are recognised faster without the expression.
  if (character <= ' ' || character > '~') cursor.at = past(SPACE, cursor.text, cursor.at)
}

/** Returns the match of the sticky `pattern` at the cursor and moves past it. */
export function take(cursor: Cursor, pattern: RegExp): string | undefined {
  const found = matchAt(pattern, cursor.text, cursor.at)
  if (found) cursor.at = pattern.lastIndex
  return found?.[0]
}

/** Returns true and moves past `character` if it follows, after optional white space. */
function takeCharacter(cursor: Cursor, character: string): boolean {
  space(cursor)
  if (cursor.text[cursor.at] !== character) return false
  cursor.at++
  return true
}

/** Returns undefined and records whether the end of the text caused the failure. */
function fail(cursor: Cursor): undefined {
  if (cursor.at >= cursor.text.length) cursor.cut = true
  return undefined
}

/** Reads comma-separated parts up to the closing bracket. Returns undefined if `read` does. */
function readParts(cursor: Cursor, closer: string, read: () => unknown): true | undefined {
  cursor.at++
  while (!takeCharacter(cursor, closer)) {
    if (!read()) return undefined
    if (!takeCharacter(cursor, ',') && cursor.text[cursor.at] !== closer) return fail(cursor)
  }
  return true
}

/** Reads a list or a tuple: `(1)` is a number in parentheses, `(1,)` a tuple. */
function readItems(cursor: Cursor, closer: ']' | ')', depth: number): Literal {
  const items: unknown[] = []
  const isRead = readParts(cursor, closer, () => {
    const item = readLiteral(cursor, depth + 1)
    return item && items.push(item.value)
  })
  if (!isRead || closer === ']' || items.length !== 1) return isRead && { value: items }
  return { value: /,\s*\)$/.test(cursor.text.slice(Math.max(0, cursor.at - 16), cursor.at)) ? items : items[0] }
}

/** Reads a dict, or a set, which becomes a list in JSON. */
function readDict(cursor: Cursor, depth: number): Literal {
  const entries: [string, unknown][] = []
  const items: unknown[] = []
  const { call } = cursor
  cursor.call = undefined
  const isRead = readParts(cursor, '}', () => {
    const key = readLiteral(cursor, depth + 1)
    if (!key) return undefined
    const hasColon = takeCharacter(cursor, ':')
    if (!hasColon && entries.length === 0) return items.push(key.value)
    if (!hasColon || items.length > 0 || !['string', 'number'].includes(typeof key.value)) return fail(cursor)
    const value = readLiteral(cursor, depth + 1)
    return value && entries.push([String(key.value), value.value])
  })
  cursor.call = call
  return isRead && { value: items.length > 0 ? items : Object.fromEntries(entries) }
}

/** Reads a string, or several adjacent ones, which Python joins. */
function readStrings(cursor: Cursor): Literal {
  let joined: string | undefined
  for (;;) {
    space(cursor)
    const part = readString(cursor)
    if (part === undefined) return joined === undefined || cursor.cut ? undefined : { value: joined }
    joined = (joined ?? '') + part
  }
}

function readString(cursor: Cursor): string | undefined {
  const { text } = cursor
  const [whole, prefix = '', quote = ''] = matchAt(QUOTE, text, cursor.at) ?? []
  if (whole === undefined) return undefined
  const from = cursor.at + whole.length
  const end = stringEnd(text, from, quote)
  cursor.at = end === -1 ? text.length : end + quote.length
  if (end === -1) return fail(cursor)
  const inside = text.slice(from, end)
  return /r/i.test(prefix) ? inside : decoded(inside)
}

const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(\r?\n)|([\s\S]))/g
const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' }

/** Decodes escapes as Python does: unknown escapes stay unchanged, including the backslash (`\d`, `C:\Users`). */
function decoded(text: string): string {
  return text.replace(ESCAPE, (whole, x, u, wide, octal, line, other) => {
    if (line !== undefined) return ''
    if (other !== undefined) return '\\\'"/'.includes(other) ? other : (NAMED[other] ?? whole)
    const code = octal === undefined ? Number.parseInt(x ?? u ?? wide, 16) : Number.parseInt(octal, 8)
    return code > 0x10ffff ? whole : String.fromCodePoint(code)
  })
}

const NAME = /[A-Za-z_][\w.-]{0,127}(?:\\_[\w.-]{0,127}){0,9}(?=\s*\()/y
const KEY = /[A-Za-z_][\w-]*(?:\\_[\w-]*)*(?=\s*=(?!=))/y
const LOOSE_KEY = /[A-Za-z_][\w-]*(?:\\_[\w-]*)*(?=\s*(?:=(?!=)|:))/y
const LOOSE_VALUE = /[A-Za-z_]\w*(?:[ .-]\w+)*(?=\s*[,)])/y
const CUT = /[A-Za-z_][\w.-]{0,127}$/y
const PRINT = /print\s*\(\s*(?=[A-Za-z_][\w.-]*\s*\()/y
const TAIL = /[\s,;)]*/y

/**
 * Reads a list of calls, or adjacent calls.
 * @param stops markup that ends the block; with it, a call with expressions is kept for the report, and without it, the text is not a
 * block
 */
export function readPythonCalls(source: Source, at: number, stops: readonly string[] = []): CallsRead | undefined {
  const { text } = source
  const cursor: Cursor = { text, at, cut: false }
  const listed = takeCharacter(cursor, '[')
  const calls: MarkupCall[] = []
  const read = (end: number, whole: boolean): CallsRead => ({ calls, end, whole })
  let end = cursor.at
  for (;;) {
    space(cursor)
    const from = cursor.at
    take(cursor, PRINT)
    const call = readCall(cursor, source)
    if (!call) {
      if ((listed || calls.length > 0) && past(CUT, text, from) > from) return read(text.length, false)
      if (calls.length === 0 && !cursor.cut) return undefined
      if (!listed) return read(end, true)
      if (text[from] === ']') return read(from + 1, true)
      if (from >= text.length) return read(text.length, false)
      // Something other than a call is among the calls.
      const stop = text[from] === ')' ? -1 : nearest(source, stops, from)
      return stop === -1 ? undefined : read(stop, true)
    }
    const isUnread = call.arguments.kind === 'unread'
    const stop = isUnread ? nearest(source, stops, cursor.at) : -1
    if (isUnread && stop === -1) return undefined
    calls.push(call)
    if (call.cutOff) return read(text.length, false)
    if (isUnread) {
      // Its brackets and strings determine its end, although it contains an expression.
      cursor.at = closing(text, from, stop, 'code')
      if (cursor.at === -1 || cursor.at === stop) return read(stop, true)
    } else end = cursor.at
    take(cursor, TAIL)
    if (!isUnread && !listed && text.slice(end, cursor.at).includes(')')) end = cursor.at
  }
}

/**
 * Reads the call at the cursor. If its arguments are not literals, they are kept as text and the damage is named.
 * @param loose accept a colon for `=`, and words without quotes
 */
export function readCall(cursor: Cursor, source: Source, loose = false): MarkupCall | undefined {
  const name = take(cursor, NAME)
  if (name === undefined) return undefined
  space(cursor)
  const from = cursor.at + 1
  const positional: unknown[] = []
  const entries: [string, unknown][] = []
  const isRead = readParts(cursor, ')', () => {
    const key = take(cursor, loose ? LOOSE_KEY : KEY)
    if (key !== undefined && !takeCharacter(cursor, '=')) takeCharacter(cursor, ':')
    const value = key === undefined && entries.length > 0 ? fail(cursor) : readValue(cursor, loose && key !== undefined)
    if (!value) return undefined
    return key === undefined ? positional.push(value.value) : entries.push([key.replaceAll('\\_', '_'), value.value])
  })
  const text = cursor.text.slice(from, isRead ? cursor.at - 1 : Math.max(from, cursor.at))
  if (!isRead && cursor.cut) return { name, arguments: { kind: 'json', text }, cutOff: true }
  if (!isRead) return { name, arguments: { kind: 'unread', text }, damage: 'the arguments were an expression' }
  const given = named(source, name, positional, entries)
  if (!given) return { name, arguments: { kind: 'unread', text }, damage: 'the arguments had no names' }
  return { name, arguments: given, ...(positional.length > 0 && { damage: 'the arguments had no names', unsure: true }) }
}

/** Reads a literal. If words need no quotes, they are text up to the next argument. */
function readValue(cursor: Cursor, words: boolean): Literal {
  space(cursor)
  const from = cursor.at
  const literal = readLiteral(cursor)
  if (literal || !words) return literal
  cursor.at = from
  const value = take(cursor, LOOSE_VALUE)
  return value === undefined ? fail(cursor) : { value }
}

/** Names positional arguments, only if it is clear which parameters they are. */
function named(source: Source, name: string, positional: unknown[], entries: [string, unknown][]): RawArguments | undefined {
  const given = Object.fromEntries(entries)
  if (Object.keys(given).length < entries.length) return undefined
  if (positional.length === 0) return { kind: 'object', value: given }
  const { properties, required } = source.tools.resolve(name)?.parameters ?? {}
  const known = isRecord(properties) ? Object.keys(properties) : []
  const [first] = positional
  if (positional.length === 1 && isRecord(first) && entries.length === 0 && isInput(first, known, properties))
    return { kind: 'object', value: first }
  const order = known.length === 1 ? known : Array.isArray(required) ? required.map(String) : []
  if (positional.length > order.length || order.slice(0, positional.length).some((key) => Object.hasOwn(given, key))) return undefined
  const placed = positional.map((value, at): [string, unknown] => [order[at] as string, value])
  return { kind: 'object', value: Object.fromEntries([...placed, ...entries]) }
}

/** Returns whether the only argument is an object with all arguments: `f({"path": …})`. */
function isInput(value: Readonly<Record<string, unknown>>, known: readonly string[], properties: unknown): boolean {
  const keys = Object.keys(value)
  const only = known.length === 1 && isRecord(properties) ? properties[known[0] as string] : undefined
  const takesObject = isRecord(only) && typesOf(only).includes('object') && keys[0] !== known[0]
  return keys.length > 0 && keys.every((key) => known.includes(key)) && !takesObject
}
