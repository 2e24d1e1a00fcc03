/** Finds the calls in parsed JSON, in the shapes that models and providers use. */
import { isRecord } from '../../schema/validate.ts'
import type { MarkupCall, RawArguments, ToolIndex } from '../family.ts'

export const NAMES = ['name', 'tool_name', 'recipient_name', 'function_name', 'tool', 'function']
export const ARGUMENTS = ['arguments', 'parameters', 'args', 'input', 'params', 'tool_input']
const BESIDE = new Set(['id', 'type', 'index', 'call_id', 'tool_call_id'])
const KIMI_ID = /^functions\.[^\s:]+:\d+$/

/**
 * Returns the calls in a value: a single call, a list, or a `tool_calls` wrapper. Anything that is not a call is returned without a
 * name, so that it is reported.
 */
export function callsOf(value: unknown, tools: ToolIndex): readonly MarkupCall[] {
  if (Array.isArray(value)) return value.map((one) => callOf(one, tools) ?? nameless(JSON.stringify(one)))
  if (isRecord(value) && Array.isArray(value['tool_calls'])) return callsOf(value['tool_calls'], tools)
  return [callOf(value, tools) ?? nameless(JSON.stringify(value))]
}

/** Creates a call without a name. */
export const nameless = (text: string): MarkupCall => ({ name: '', arguments: { kind: 'unread', text }, damage: 'there was no name in it' })

/** Returns the call that an object represents; undefined if it represents none. */
export function callOf(value: unknown, tools: ToolIndex): MarkupCall | undefined {
  if (!isRecord(value)) return undefined
  const call = isRecord(value['function']) ? { ...value, ...value['function'], function: undefined } : value
  const nameKey = NAMES.find((key) => typeof call[key] === 'string')
  if (nameKey === undefined) return keyed(value, tools)
  const name = call[nameKey] as string
  if (isDefinition(call)) return undefined
  const id = typeof call['id'] === 'string' && KIMI_ID.test(call['id']) ? { id: call['id'] } : {}
  const key = ARGUMENTS.find((one) => Object.hasOwn(call, one))
  if (key !== undefined) return { name, ...id, arguments: argumentsOf(call[key]) }
  const rest = Object.entries(call).filter(([one, held]) => one !== nameKey && !BESIDE.has(one) && held !== undefined)
  const beside = { kind: 'object', value: Object.fromEntries(rest) } as const
  return { name, ...id, arguments: beside, ...(rest.length > 0 && { damage: 'the arguments stood beside the name' }) }
}

/** Returns whether the object is a tool definition rather than a call: its parameters are a schema. */
function isDefinition({ description, parameters }: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(parameters)) return false
  return typeof description === 'string' || (parameters['type'] === 'object' && isRecord(parameters['properties']))
}

/** Reads `{"name": {…arguments}}`, only if the single key is a tool. */
function keyed(value: Readonly<Record<string, unknown>>, tools: ToolIndex): MarkupCall | undefined {
  const [only, ...more] = Object.entries(value)
  if (!only || more.length > 0 || !isRecord(only[1]) || !tools.resolve(only[0])) return undefined
  return { name: only[0], arguments: { kind: 'object', value: only[1] } }
}

/** Reads the value in the place of the arguments: an object, nothing, or text that should contain an object. */
export function argumentsOf(value: unknown): RawArguments {
  if (isRecord(value)) return { kind: 'object', value }
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) return { kind: 'object', value: {} }
  return { kind: 'json', text: typeof value === 'string' ? value : JSON.stringify(value) }
}

/** Returns whether an object contains the arguments and not only the name. */
export function saysArguments(value: Readonly<Record<string, unknown>>): boolean {
  const call = isRecord(value['function']) ? { ...value, ...value['function'] } : value
  return ARGUMENTS.some((key) => Object.hasOwn(call, key))
}
