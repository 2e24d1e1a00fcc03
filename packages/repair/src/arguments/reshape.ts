/** Fixes arguments that have the right content in the wrong frame: the whole call in place of its arguments, or markup in a key. */
import type { Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/types.ts'
import { isRecord, recordOf } from '../schema/validate.ts'
import { tryJson } from '../text.ts'

/** Keys under which models put the arguments when they send the whole call. */
const INNER = ['arguments', 'parameters', 'args', 'input', 'params', 'kwargs', 'properties']
/** Other keys of such a call: the tool name and the call's frame. */
const NAMES = ['name', 'tool', 'tool_name', 'function', 'function_name']
const BESIDE = [...NAMES, 'type', 'id', 'tool_call_id', 'call_id']
/** Maximum number of wrappers to remove. */
const MAX_WRAPPINGS = 3

/** Returns the arguments in their proper frame. `toolName`: a wrapper that names another tool is left unchanged. */
export function reshape(schema: JsonSchema, given: Record<string, unknown>, repairs: Repair[], toolName?: string): Record<string, unknown> {
  let value = given
  for (let times = 0; times < MAX_WRAPPINGS; times++) {
    const inner = unwrap(schema, value, toolName)
    if (!inner) break
    repairs.push({ kind: 'wrapped', from: value, to: inner, why: 'the arguments were inside another object' })
    value = inner
  }
  return withoutMarkup(schema, value, repairs)
}

function unwrap(schema: JsonSchema, value: Record<string, unknown>, toolName: string | undefined): Record<string, unknown> | undefined {
  const properties = recordOf(schema['properties'])
  const keys = Object.keys(value)
  // Without declared parameters, any input may be intended as it is.
  if (Object.keys(properties).length === 0 || keys.length > BESIDE.length) return undefined
  const [at, ...more] = keys.filter((key) => INNER.includes(key))
  const isFrame = (key: string): boolean =>
    key === at || (BESIDE.includes(key) && !(NAMES.includes(key) && toolName !== undefined && value[key] !== toolName))
  if (at === undefined || more.length > 0 || !keys.every((key) => isFrame(key) && !Object.hasOwn(properties, key))) return undefined
  const inner = value[at]
  const parsed = typeof inner === 'string' ? tryJson(inner) : inner
  return isRecord(parsed) ? parsed : undefined
}

/** Markup tags of a family, whole or broken, at either end of a key. */
const TAG = String.raw`<\/?(?:arg_key|arg_value|parameter|param|key|tool_call)[^<>]*>?`
const TAGS = new RegExp(`^(?:${TAG}\\s*)+|(?:\\s*${TAG})+$`, 'g')
const IN_VALUE = /<\/?arg_(?:key|value)>/

function withoutMarkup(schema: JsonSchema, value: Record<string, unknown>, repairs: Repair[]): Record<string, unknown> {
  const properties = recordOf(schema['properties'])
  const entries = Object.entries(value)
  if (!entries.some(([key]) => key.includes('<') && !Object.hasOwn(properties, key))) return value
  const clean = entries.map(([key, member]): [string, unknown] => {
    const name = key.replace(TAGS, '').trim()
    const taken = Object.hasOwn(value, name)
    // If the value contains markup too, the boundary between key and value is unknown.
    const torn = typeof member === 'string' && IN_VALUE.test(member)
    if (name === key || taken || torn || !Object.hasOwn(properties, name)) return [key, member]
    repairs.push({ kind: 'parameter', parameter: name, from: key, to: name, why: 'markup taken off the name of the parameter' })
    return [name, member]
  })
  return Object.fromEntries(clean)
}
