/** Arguments that are right inside but stand in the wrong frame: the whole call in place of its arguments, markup on a key. */
import type { Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { isRecord, recordOf } from '../schema/validate.ts'
import { tryJson } from './try-json.ts'

/** Under which keys models put arguments when they send the whole call. */
const INNER = ['arguments', 'parameters', 'args', 'input', 'params', 'kwargs', 'properties']
/** What is beside them: the name of the tool, and the frame of the call. */
const NAMES = ['name', 'tool', 'tool_name', 'function', 'function_name']
const BESIDE = [...NAMES, 'type', 'id', 'tool_call_id', 'call_id']
/** How many wrappings are taken off. */
const MAX_WRAPPINGS = 3

/** The arguments in their right frame. `toolName`: a wrapper that names another tool is left as it is. */
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
  // Where nothing is declared, anything may be meant as it is.
  if (Object.keys(properties).length === 0 || keys.length > BESIDE.length) return undefined
  const [at, ...more] = keys.filter((key) => INNER.includes(key))
  if (at === undefined || more.length > 0 || Object.hasOwn(properties, at)) return undefined
  for (const key of keys) {
    if (key === at) continue
    if (!BESIDE.includes(key) || Object.hasOwn(properties, key)) return undefined
    if (NAMES.includes(key) && toolName !== undefined && value[key] !== toolName) return undefined
  }
  const inner = value[at]
  const parsed = typeof inner === 'string' ? tryJson(inner) : inner
  return isRecord(parsed) ? parsed : undefined
}

/** Tags of a family's markup, whole or broken, at the ends of a key. */
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
    // Markup in the value besides: nobody can tell where the key ends and the value begins.
    const torn = typeof member === 'string' && IN_VALUE.test(member)
    if (name === key || taken || torn || !Object.hasOwn(properties, name)) return [key, member]
    repairs.push({ kind: 'parameter', parameter: name, from: key, to: name, why: 'markup taken off the name of the parameter' })
    return [name, member]
  })
  return Object.fromEntries(clean)
}
