/** From JSON that was read to the calls in it, in the shapes that models and providers give a call. */
import type { MarkupCall, RawArguments, ToolIndex } from '../family.ts'

const NAMES = ['name', 'tool_name', 'recipient_name', 'function_name', 'tool', 'function']
const ARGUMENTS = ['arguments', 'parameters', 'args', 'input', 'params', 'tool_input']
const BESIDE = new Set(['id', 'type', 'index', 'call_id', 'tool_call_id'])
const KIMI_ID = /^functions\.[^\s:]+:\d+$/

/** The calls in a value: one, a list of them, a `tool_calls` around them. What is no call comes back nameless, to be reported. */
export function callsOf(value: unknown, tools: ToolIndex): readonly MarkupCall[] {
  if (Array.isArray(value)) return value.map((one) => callOf(one, tools) ?? nameless(JSON.stringify(one)))
  if (isRecord(value) && Array.isArray(value['tool_calls'])) return callsOf(value['tool_calls'], tools)
  return [callOf(value, tools) ?? nameless(JSON.stringify(value))]
}

/** A call in which no name could be found. */
export const nameless = (text: string): MarkupCall => ({ name: '', arguments: { kind: 'unread', text }, damage: 'there was no name in it' })

function callOf(value: unknown, tools: ToolIndex): MarkupCall | undefined {
  if (!isRecord(value)) return undefined
  const call = isRecord(value['function']) ? { ...value, ...value['function'], function: undefined } : value
  const nameKey = NAMES.find((key) => typeof call[key] === 'string')
  if (nameKey === undefined) return keyed(value, tools)
  const name = call[nameKey] as string
  const id = typeof call['id'] === 'string' && KIMI_ID.test(call['id']) ? { id: call['id'] } : {}
  const key = ARGUMENTS.find((one) => Object.hasOwn(call, one))
  if (key !== undefined) return { name, ...id, arguments: argumentsOf(call[key]) }
  const rest = Object.entries(call).filter(([one, held]) => one !== nameKey && !BESIDE.has(one) && held !== undefined)
  const beside = { kind: 'object', value: Object.fromEntries(rest) } as const
  return { name, ...id, arguments: beside, ...(rest.length > 0 && { damage: 'the arguments stood beside the name' }) }
}

/** `{"name": {…arguments}}`: only where the one key is a tool. */
function keyed(value: Readonly<Record<string, unknown>>, tools: ToolIndex): MarkupCall | undefined {
  const [only, ...more] = Object.entries(value)
  if (!only || more.length > 0 || !isRecord(only[1]) || !tools.resolve(only[0])) return undefined
  return { name: only[0], arguments: { kind: 'object', value: only[1] } }
}

/** What stands where the arguments belong: an object, none, or a text that is to hold one. */
export function argumentsOf(value: unknown): RawArguments {
  if (isRecord(value)) return { kind: 'object', value }
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) return { kind: 'object', value: {} }
  return { kind: 'json', text: typeof value === 'string' ? value : JSON.stringify(value) }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
