/**
 * Reads text that consists only of calls, in any notation: `f(a=1); g()`, `["f(a=1)"]`, `[{'name': 'f', 'params': {…}}]`, `f {"a":
 * 1}`, `{"tool_calls": […]}`. JSON, Python and calls form one grammar here: a call is a value too.
 */
import { bareName } from '../../name.ts'
import { isRecord } from '../../schema/validate.ts'
import { skip, tokenAt } from '../../text.ts'
import type { CallsRead, MarkupCall, Source, ToolIndex } from '../family.ts'
import { sourceOf } from '../source.ts'
import { callOf, saysArguments } from './call-object.ts'
import { type Cursor, type Literal, readCall, readLiteral, readPythonCalls, take } from './python.ts'

/** A call among values. */
class Called {
  readonly call: MarkupCall
  constructor(call: MarkupCall) {
    this.call = call
  }
}

const NAME = /[A-Za-z_][\w.-]{0,127}(?:\\_[\w.-]{0,127}){0,9}/y
/** Text allowed between a name and its arguments object. */
const BEFORE_OBJECT = /\s*:?\s*(?=\{)/y
const SEPARATORS = /[\s,;]*/y
/** How many levels of strings may wrap calls. */
const DEPTH = 3

/** Returns the calls from `at` on, separated by text that `between` matches; `reached`: how far the text was read. */
export function readBareCalls(source: Source, at: number, between = SEPARATORS, depth = 0) {
  const { text } = source
  const cursor: Cursor = { text, at, cut: false, call: (from) => called(source, from) }
  const calls: MarkupCall[] = []
  let end = at
  for (;;) {
    const literal = readLiteral(cursor)
    const found = literal && callsIn(source, literal.value, depth)
    if (!found) break
    calls.push(...found)
    end = cursor.at
    take(cursor, between)
  }
  return { calls, end, reached: cursor.at }
}

/** Returns whether this is the name of a known tool, as written. */
export const isKnown = (tools: ToolIndex, name: string): boolean =>
  tools.exact(name) !== undefined || tools.exact(bareName(name)) !== undefined

/** Reads the call at the cursor, which is at a tool name. */
function called(source: Source, cursor: Cursor): Literal {
  const { text } = cursor
  const from = cursor.at
  NAME.lastIndex = from
  const name = NAME.exec(text)?.[0].replace(/\.+$/, '')
  if (name === undefined || !isKnown(source.tools, name)) return undefined
  // Its arguments cannot contain calls.
  const inside: Cursor = { text, at: from, cut: false }
  const call = readCall(inside, source, true) ?? readNamed(inside, name, from + name.length)
  cursor.at = inside.at
  if (call?.arguments.kind !== 'object' || call.unsure) return undefined
  return { value: new Called(call) }
}

function readNamed(cursor: Cursor, name: string, after: number): MarkupCall | undefined {
  cursor.at = after
  const value = take(cursor, BEFORE_OBJECT) === undefined ? undefined : readLiteral(cursor)?.value
  return isRecord(value) ? { name, arguments: { kind: 'object', value } } : undefined
}

export const LISTS = ['tool_calls', 'function_calls', 'calls']

/** Returns the calls that a value represents; undefined if any part of it is something else. */
function callsIn(source: Source, value: unknown, depth: number): readonly MarkupCall[] | undefined {
  if (value instanceof Called) return [value.call]
  if (typeof value === 'string') return depth < DEPTH ? callsOfText(source, value, depth + 1) : undefined
  if (Array.isArray(value)) {
    const each = value.map((one) => callsIn(source, one, depth))
    return each.length > 0 && each.every((one) => one !== undefined) ? each.flat() : undefined
  }
  if (!isRecord(value)) return undefined
  const list = LISTS.find((key) => Array.isArray(value[key]))
  if (list !== undefined) return callsIn(source, value[list], depth)
  const call = saysArguments(value) ? callOf(value, source.tools) : undefined
  return call && isKnown(source.tools, call.name) ? [call] : undefined
}

function callsOfText({ tools }: Source, text: string, depth: number): readonly MarkupCall[] | undefined {
  const inner = sourceOf(text, tools)
  const read = readBareCalls(inner, 0, SEPARATORS, depth)
  return read.calls.length > 0 && /^[\s,;)]*$/.test(text.slice(read.end)) ? read.calls : undefined
}

/** Reads calls in Python notation up to a stop. Calls that are not valid Python but name tools and arguments are accepted for reads. */
export function readPython(source: Source, at: number, stops: readonly string[]): CallsRead | undefined {
  const read = readPythonCalls(source, at, stops)
  if (read?.calls.every((call) => call.arguments.kind !== 'unread')) return read
  const { calls, end } = readBareCalls(source, at)
  if (calls.length === 0 || !tokenAt(source.text, skip(source.text, end), stops)) return read
  return { calls: calls.map((call) => ({ ...call, damage: 'it was not Python', unsure: true })), end, whole: true }
}
