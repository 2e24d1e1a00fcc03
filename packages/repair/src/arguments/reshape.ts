/** Arguments that are right inside but stand in the wrong frame: the whole call in place of its arguments, markup on a key. */
import { isTooDeep } from '../canonical.ts'
import type { Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { isRecord } from '../schema/validate.ts'

/** Under which keys models put arguments when they send the whole call. */
const INNER = ['arguments', 'parameters', 'args', 'input', 'params', 'kwargs', 'properties']
/** What stands beside them. */
const BESIDE = new Set(['name', 'tool', 'tool_name', 'function', 'function_name', 'type', 'id', 'tool_call_id', 'call_id'])
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
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const keys = Object.keys(value)
  // Where nothing is declared, anything may be meant as it is.
  if (Object.keys(properties).length === 0 || keys.length > BESIDE.size) return undefined
  const [at, ...more] = keys.filter((key) => INNER.includes(key))
  if (at === undefined || more.length > 0 || Object.hasOwn(properties, at)) return undefined
  for (const key of keys) {
    if (key === at) continue
    if (!BESIDE.has(key) || Object.hasOwn(properties, key)) return undefined
    if (NAMES.has(key) && toolName !== undefined && value[key] !== toolName) return undefined
  }
  const inner = value[at]
  if (isRecord(inner)) return inner
  if (typeof inner !== 'string' || !inner.trimStart().startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(inner)
    return isRecord(parsed) && !isTooDeep(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const NAMES = new Set(['name', 'tool', 'tool_name', 'function', 'function_name'])

/** Tags of a family's markup, whole or broken, at the ends of a key. */
const TAGS =
  /^(?:<\/?(?:arg_key|arg_value|parameter|param|key|tool_call)[^<>]*>?\s*)+|(?:\s*<\/?(?:arg_key|arg_value|parameter|param|key|tool_call)[^<>]*>?)+$/g
const IN_VALUE = /<\/?arg_(?:key|value)>/

function withoutMarkup(schema: JsonSchema, value: Record<string, unknown>, repairs: Repair[]): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
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
