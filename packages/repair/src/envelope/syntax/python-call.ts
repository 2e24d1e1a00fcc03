/** Calls in Python's notation: `f(x="y", n=1)`, in a list or one after the other. */

import { typesOf } from '../../schema/types.ts'
import { isRecord } from '../../schema/validate.ts'
import type { MarkupCall, RawArguments, Source } from '../family.ts'
import { nearest } from './json-extent.ts'
import { type Cursor, fail, type Literal, readLiteral, space, stringEnd, take, takeCharacter } from './python.ts'

export interface PythonCalls {
  readonly calls: readonly MarkupCall[]
  readonly end: number
  /** Nothing was still open where it ends. */
  readonly whole: boolean
}

const NAME = /[A-Za-z_][\w.-]{0,127}(?:\\_[\w.-]{0,127}){0,9}(?=\s*\()/y
const KEY = /[A-Za-z_][\w-]*(?:\\_[\w-]*)*(?=\s*=(?!=))/y
const LOOSE_KEY = /[A-Za-z_][\w-]*(?:\\_[\w-]*)*(?=\s*(?:=(?!=)|:))/y
const WORDS = /[A-Za-z_]\w*(?:[ .-]\w+)*(?=\s*[,)])/y
const CUT = /[A-Za-z_][\w.-]{0,127}$/y
const PRINT = /print\s*\(\s*(?=[A-Za-z_][\w.-]*\s*\()/y
const TAIL = /[\s,;)]*/y

/**
 * Reads a list of calls, or calls that stand side by side.
 * @param stops markup that ends the block: with it, a call that is an expression is kept for the report. Without, it is no block.
 */
export function readPythonCalls(source: Source, at: number, stops: readonly string[] = []): PythonCalls | undefined {
  const { text } = source
  const cursor: Cursor = { text, at, cut: false }
  const listed = takeCharacter(cursor, '[')
  const calls: MarkupCall[] = []
  let end = cursor.at
  for (;;) {
    space(cursor)
    const from = cursor.at
    take(cursor, PRINT)
    const call = readCall(cursor, source)
    if (!call) {
      if ((listed || calls.length > 0) && cutName(text, from)) return { calls, end: text.length, whole: false }
      if (calls.length === 0 && !cursor.cut) return undefined
      if (!listed) return { calls, end, whole: true }
      if (text[from] === ']') return { calls, end: from + 1, whole: true }
      return from >= text.length ? { calls, end: text.length, whole: false } : refused(source, from, calls, stops)
    }
    if (call.cutOff) return { calls: [...calls, call], end: text.length, whole: false }
    if (call.arguments.kind === 'unread') {
      const stop = nearest(source, stops, cursor.at)
      if (stop === -1) return undefined
      calls.push(call)
      cursor.at = expressionEnd(text, from, stop)
      if (cursor.at === stop) return { calls, end: stop, whole: true }
      take(cursor, TAIL)
      continue
    }
    calls.push(call)
    end = cursor.at
    take(cursor, TAIL)
    if (!listed) end = text.slice(end, cursor.at).includes(')') ? cursor.at : end
  }
}

function cutName(text: string, at: number): boolean {
  CUT.lastIndex = at
  return CUT.test(text)
}

/** Where the call at `from` ends by its brackets and strings, although what it holds is an expression; else `stop`. */
function expressionEnd(text: string, from: number, stop: number): number {
  let depth = 0
  for (let i = from; i < stop; i++) {
    const character = text[i] as string
    if (character === '"' || character === "'") {
      const quote = text.startsWith(character.repeat(3), i) ? character.repeat(3) : character
      const end = stringEnd(text, i + quote.length, quote)
      if (end === -1) return stop
      i = end + quote.length - 1
    } else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && --depth === 0) return i + 1
  }
  return stop
}

/** Something that is no call stands among calls. */
function refused(source: Source, from: number, calls: readonly MarkupCall[], stops: readonly string[]): PythonCalls | undefined {
  if (source.text[from] === ')') return undefined
  const stop = nearest(source, stops, from)
  return stop === -1 ? undefined : { calls, end: stop, whole: true }
}

/** One call at the cursor. One whose arguments are no literals has them as text, with the damage named. */
export function readCall(cursor: Cursor, source: Source, loose = false): MarkupCall | undefined {
  const name = take(cursor, NAME)
  if (name === undefined) return undefined
  takeCharacter(cursor, '(')
  const from = cursor.at
  const positional: unknown[] = []
  const entries: [string, unknown][] = []
  for (;;) {
    if (takeCharacter(cursor, ')')) break
    const key = take(cursor, loose ? LOOSE_KEY : KEY)
    if (key !== undefined && !takeCharacter(cursor, '=')) takeCharacter(cursor, ':')
    const value = key === undefined && entries.length > 0 ? fail(cursor) : readValue(cursor, loose && key !== undefined)
    if (!value) return unread(cursor, name, from)
    if (key === undefined) positional.push(value.value)
    else entries.push([key.replaceAll('\\_', '_'), value.value])
    if (!takeCharacter(cursor, ',') && cursor.text[cursor.at] !== ')') {
      fail(cursor)
      return unread(cursor, name, from)
    }
  }
  const given = named(source, name, positional, entries)
  if (given)
    return { name, arguments: given, ...(positional.length > 0 && { damage: 'the arguments had no names', unsure: true as const }) }
  const text = cursor.text.slice(from, cursor.at - 1)
  return { name, arguments: { kind: 'unread', text }, damage: 'the arguments had no names' }
}

/** A literal; where words may stand for themselves, they do up to the next argument. */
function readValue(cursor: Cursor, words: boolean): Literal {
  space(cursor)
  const from = cursor.at
  const literal = readLiteral(cursor)
  if (literal || !words) return literal
  cursor.at = from
  const value = take(cursor, WORDS)
  return value === undefined ? fail(cursor) : { value }
}

function unread(cursor: Cursor, name: string, from: number): MarkupCall {
  const text = cursor.text.slice(from, Math.max(from, cursor.at))
  if (cursor.cut) return { name, arguments: { kind: 'json', text }, cutOff: true }
  return { name, arguments: { kind: 'unread', text }, damage: 'the arguments were an expression' }
}

/** Names for arguments by position: only where it is beyond doubt which they are. */
function named(
  source: Source,
  name: string,
  positional: readonly unknown[],
  entries: readonly [string, unknown][],
): RawArguments | undefined {
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
  return {
    kind: 'object',
    value: Object.fromEntries([...positional.map((value, at) => [order[at] as string, value] as const), ...entries]),
  }
}

/** `f({"path": …})`: the one argument is the object of all of them. */
function isInput(value: Readonly<Record<string, unknown>>, known: readonly string[], properties: unknown): boolean {
  const keys = Object.keys(value)
  const only = known.length === 1 && isRecord(properties) ? properties[known[0] as string] : undefined
  return (
    keys.length > 0 &&
    keys.every((key) => known.includes(key)) &&
    !(isRecord(only) && typesOf(only).includes('object') && keys[0] !== known[0])
  )
}
