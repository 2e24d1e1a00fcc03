/** Schema-directed coercion: a value is changed only where it does not fit, only without loss, and each change is a note. */
import { canonical, isTooDeep } from '../canonical.ts'
import { fold } from '../did-you-mean.ts'
import type { Repair } from '../repair.ts'
import { pathText } from '../schema/issue.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { deref, isRecord, typeOf, typesOf, validate } from '../schema/validate.ts'
import { reshape } from './reshape.ts'

export interface Coerced {
  readonly value: unknown
  readonly repairs: readonly Repair[]
}

export interface CoerceOptions {
  /** Other names of parameters; a path such as `edits[].old_text` reaches into lists. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** For reads: a string may become the enum value it differs from by case only, unknown keys may go, a lone unknown key may be the lone missing one. */
  readonly lenient: boolean
  /** Whose arguments they are: arguments that come wrapped in a call of another tool are left alone. */
  readonly toolName?: string
}

type Path = readonly (string | number)[]
interface Walk {
  readonly root: JsonSchema
  readonly repairs: Repair[]
  readonly options: CoerceOptions
  readonly depth: number
  /** What references have led to without going deeper into the value: to come to it again mends nothing new. */
  readonly open: readonly unknown[]
}

/** Written so that no digit can be matched in two ways: a long text that is no number is refused in linear time. */
const NUMBER = /^\s*[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?\s*$/i
const MAX_DEPTH = 100

/** The value with what could be mended mended. Whether the result is valid is for the caller to check. */
export function coerce(schema: JsonSchema, value: unknown, options: CoerceOptions): Coerced {
  const repairs: Repair[] = []
  const given = isRecord(value) ? reshape(schema, value, repairs, options.toolName) : value
  return { value: mend(schema, given, [], { root: schema, repairs, options, depth: 0, open: [] }), repairs }
}

function mend(given: unknown, value: unknown, path: Path, walk: Walk): unknown {
  if (!isRecord(given) || walk.depth > MAX_DEPTH) return value
  const schema = deref(given, walk.root)
  if (!isRecord(schema)) return value
  const inner = { ...walk, depth: walk.depth + 1 }
  if (schema !== given) return walk.open.includes(schema) ? value : mend(schema, value, path, { ...inner, open: [...walk.open, schema] })
  const parts = schema['anyOf'] ?? schema['oneOf']
  const chosen = Array.isArray(parts) ? mendOneOf(parts, value, path, inner) : value
  const types = typesOf(schema)
  const changed = retype(types, schema, chosen, path, inner)
  if (Array.isArray(changed)) return mendItems(schema, changed, path, { ...inner, open: [] })
  if (isRecord(changed)) return mendProperties(schema, changed, path, { ...inner, open: [] })
  if (walk.options.lenient && typeof changed === 'string' && Array.isArray(schema['enum']))
    return mendEnum(schema['enum'], changed, path, walk)
  if (typeof changed === 'number') return mendUnit(schema, changed, path, walk)
  return changed
}

/** A union: untouched when it fits; else the first branch whose mended value validates. */
function mendOneOf(parts: readonly unknown[], value: unknown, path: Path, walk: Walk): unknown {
  const fits = (part: unknown, candidate: unknown): boolean => !isRecord(part) || validate(part, candidate, walk.root).length === 0
  if (parts.some((part) => fits(part, value))) return value
  for (const part of parts) {
    const repairs: Repair[] = []
    const candidate = mend(part, value, path, { ...walk, repairs })
    if (!fits(part, candidate)) continue
    walk.repairs.push(...repairs)
    return candidate
  }
  return value
}

function retype(types: readonly string[], schema: JsonSchema, value: unknown, path: Path, walk: Walk): unknown {
  const got = typeOf(value)
  if (types.length === 0 || types.includes(got) || (got === 'integer' && types.includes('number'))) return value
  const note = (to: unknown, why: string): unknown => {
    walk.repairs.push({ kind: 'type', parameter: pathText(path), from: value, to, why })
    return to
  }
  if (typeof value === 'string') {
    const wantsNumber = types.includes('number') || types.includes('integer')
    if (wantsNumber && NUMBER.test(value)) {
      const number = Number(value)
      if (Number.isFinite(number) && (types.includes('number') || Number.isSafeInteger(number)))
        return note(number, 'a number sent as text')
    }
    if (types.includes('boolean') && /^\s*(true|false)\s*$/i.test(value))
      return note(value.trim().toLowerCase() === 'true', 'true or false sent as text')
    if (types.includes('null') && value.trim() === 'null') return note(null, 'null sent as text')
    const parsed = types.includes('array') || types.includes('object') ? tryJson(value) : undefined
    if (Array.isArray(parsed) && types.includes('array')) return note(parsed, 'a list sent as JSON text')
    if (isRecord(parsed) && types.includes('object')) return note(parsed, 'an object sent as JSON text')
    if (types.includes('array') && parsed === undefined && !/^\s*\[/.test(value)) return single(schema, value, note, walk)
    return value
  }
  if (got === 'integer' && types.includes('string') && Number.isSafeInteger(value)) return note(String(value), 'text sent as a number')
  if (types.includes('array') && got !== 'null') return single(schema, value, note, walk)
  return value
}

/** One value where a list of such values belongs. */
function single(schema: JsonSchema, value: unknown, note: (to: unknown, why: string) => unknown, walk: Walk): unknown {
  const items = schema['items']
  if (!isRecord(items) || validate(items, value, walk.root).length > 0) return value
  return note([value], 'a single value where a list belongs')
}

/** Milliseconds where the schema wants seconds: only beyond its maximum, and only where the text of the schema says seconds. */
function mendUnit(schema: JsonSchema, value: number, path: Path, walk: Walk): number {
  const { maximum, minimum, description } = schema
  if (typeof maximum !== 'number' || value <= maximum || value % 100 !== 0) return value
  const seconds = value / 1000
  const fits = seconds <= maximum && (typeof minimum !== 'number' || seconds >= minimum)
  const whole = !typesOf(schema).includes('integer') || Number.isInteger(seconds)
  const said = SECONDS.test(`${path.at(-1)} ${typeof description === 'string' ? description : ''}`)
  if (!fits || !whole || !said) return value
  walk.repairs.push({ kind: 'unit', parameter: pathText(path), from: value, to: seconds, why: 'milliseconds where seconds belong' })
  return seconds
}

const SECONDS = /(?:^|[^a-z])(?:sec|secs|seconds?)(?![a-z])|_s\b/i

function mendItems(schema: JsonSchema, value: readonly unknown[], path: Path, walk: Walk): unknown {
  const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
  const mended = value.map((item, at) => mend(at < prefix.length ? prefix[at] : schema['items'], item, [...path, at], walk))
  return mended.some((item, at) => item !== value[at]) ? mended : value
}

function mendEnum(allowed: readonly unknown[], value: string, path: Path, walk: Walk): unknown {
  if (allowed.includes(value)) return value
  const same = allowed.filter((one) => typeof one === 'string' && fold(one) === fold(value))
  if (same.length !== 1) return value
  walk.repairs.push({ kind: 'enum', parameter: pathText(path), from: value, to: same[0], why: 'the same but for case and separators' })
  return same[0]
}

function mendProperties(schema: JsonSchema, value: Record<string, unknown>, path: Path, walk: Walk): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  let result = renameKeys(schema, properties, required, value, path, walk)
  const set = (key: string, to: unknown): void => {
    if (result === value) result = { ...value }
    if (to === undefined) delete result[key]
    else result[key] = to
  }
  for (const [key, member] of Object.entries(result)) {
    const child = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (child === undefined) continue
    if (member === null && !required.includes(key) && isRecord(child) && validate(child, null, walk.root).length > 0) {
      walk.repairs.push({
        kind: 'null_dropped',
        parameter: pathText([...path, key]),
        from: null,
        to: undefined,
        why: 'null for an optional parameter',
      })
      set(key, undefined)
      continue
    }
    const mended = mend(child, member, [...path, key], walk)
    if (mended !== member) set(key, mended)
  }
  return result
}

/** Declared aliases, keys that differ by case or separators, and for reads the lone unknown key and the ones to ignore. */
function renameKeys(
  schema: JsonSchema,
  properties: Record<string, unknown>,
  required: readonly unknown[],
  value: Record<string, unknown>,
  path: Path,
  walk: Walk,
): Record<string, unknown> {
  let unknown = Object.keys(value).filter((key) => !Object.hasOwn(properties, key))
  if (unknown.length === 0) return value
  let result = value
  const at = pathText(path.map((step) => (typeof step === 'number' ? -1 : step))).replaceAll('[-1]', '[]')
  const rename = (from: string, to: string, why: string): void => {
    result = Object.fromEntries(Object.entries(result).map(([key, member]) => [key === from ? to : key, member]))
    unknown = unknown.filter((key) => key !== from)
    walk.repairs.push({ kind: 'parameter', parameter: pathText([...path, to]), from, to, why })
  }
  const free = (key: string): boolean => Object.hasOwn(properties, key) && !Object.hasOwn(result, key)
  for (const [name, aliases] of Object.entries(walk.options.parameterAliases ?? {})) {
    const key = at === '' ? name : name.startsWith(`${at}.`) ? name.slice(at.length + 1) : ''
    if (!free(key)) continue
    const used = aliases.filter((alias) => unknown.includes(alias))
    if (used.length === 1) rename(used[0] as string, key, 'another name of this parameter')
  }
  for (const key of unknown) {
    const same = Object.keys(properties).filter((name) => free(name) && fold(name) === fold(key))
    if (same.length === 1) rename(key, same[0] as string, 'the same name but for case and separators')
  }
  if (!walk.options.lenient) return result
  const missing = required.filter((key): key is string => typeof key === 'string' && !Object.hasOwn(result, key))
  const [lone] = unknown
  // Markup in a name may tear the value too.
  if (missing.length === 1 && unknown.length === 1 && lone !== undefined && !lone.includes('<')) {
    const child = properties[missing[0] as string]
    if (isRecord(child) && validate(child, result[lone], walk.root).length === 0)
      rename(lone, missing[0] as string, 'the only unknown parameter, and the only one missing')
  }
  if (schema['additionalProperties'] === false && missing.every((key) => Object.hasOwn(result, key)))
    return dropKeys(new Set(unknown), result, path, walk)
  return result
}

/** All at once, so that many cost no more than linear time. */
function dropKeys(keys: ReadonlySet<string>, value: Record<string, unknown>, path: Path, walk: Walk): Record<string, unknown> {
  const why = 'no such parameter: it had no effect'
  for (const key of keys)
    walk.repairs.push({ kind: 'unknown_dropped', parameter: pathText([...path, key]), from: value[key], to: undefined, why })
  return keys.size === 0 ? value : Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)))
}

function tryJson(text: string): unknown {
  const start = text.trimStart()[0]
  if (start !== '[' && start !== '{') return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return isTooDeep(parsed) ? undefined : parsed
  } catch {
    return undefined
  }
}

/** True when the two differ, as JSON. */
export const differs = (a: unknown, b: unknown): boolean => canonical(a) !== canonical(b)
