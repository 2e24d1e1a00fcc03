/** Schema-directed coercion: a value is changed only where it does not fit, only without loss, and each change is a note. */
import { fold } from '../did-you-mean.ts'
import type { Repair, RepairKind } from '../repair.ts'
import { pathText } from '../schema/issue.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { typesOf } from '../schema/types.ts'
import { deref, isOfType, isRecord, itemSchema, listOf, recordOf, typeOf, validate } from '../schema/validate.ts'
import { reshape } from './reshape.ts'
import { tryJson } from './try-json.ts'

export interface Coerced {
  readonly value: unknown
  readonly repairs: readonly Repair[]
  /** Why a value is a guess that nothing with effects may be run on. */
  readonly doubt?: string
}

export interface CoerceOptions {
  /** Other names of parameters; a path such as `edits[].old_text` reaches into lists. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>> | undefined
  /** For reads: a string may become the enum value it differs from by case only, unknown keys may go, a lone unknown key may be the lone missing one. */
  readonly lenient: boolean
  /** Names, without regard to case and separators, of parameters that may come and say nothing here. */
  readonly ignoredParameters?: readonly string[] | undefined
  /** Whose arguments they are: arguments that come wrapped in a call of another tool are left alone. */
  readonly toolName?: string | undefined
}

type Path = readonly (string | number)[]
interface Walk {
  readonly root: JsonSchema
  readonly repairs: Repair[]
  readonly options: CoerceOptions
  readonly depth: number
  /** What references have led to without going deeper into the value: to come to it again repairs nothing new. */
  readonly open: readonly unknown[]
}

/** Written so that no digit can be matched in two ways: a long text that is not a number is refused in linear time. */
const NUMBER = /^\s*[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?\s*$/i
const MAX_DEPTH = 100

/** A model's own quotation marks. Nobody can tell what else of its markup was misread. */
const QUOTE_TOKEN = /^(?:<\|"\|>|<escape>)|(?:<\|"\|>|<escape>)$/g
const LEFT_ON = 'has a token left on it that the model quotes with'

/** The value with what could be repaired repaired. Whether the result is valid is for the caller to check. */
export function coerce(schema: JsonSchema, value: unknown, options: CoerceOptions): Coerced {
  const repairs: Repair[] = []
  const given = isRecord(value) ? reshape(schema, value, repairs, options.toolName) : value
  const fixed = repair(schema, given, [], { root: schema, repairs, options, depth: 0, open: [] })
  const doubt = options.lenient ? undefined : repairs.find(({ why }) => why === LEFT_ON)
  return { value: fixed, repairs, ...(doubt && { doubt: `"${doubt.parameter}" ${LEFT_ON}` }) }
}

/** Takes note of a change, and makes it. */
function note<T>({ repairs }: Walk, kind: RepairKind, path: Path, from: unknown, to: T, why: string): T {
  repairs.push({ kind, parameter: pathText(path), from, to, why })
  return to
}

const fits = (schema: unknown, value: unknown, { root }: Walk): boolean => validate(schema as JsonSchema, value, root).length === 0

function repair(given: unknown, value: unknown, path: Path, walk: Walk): unknown {
  if (!isRecord(given) || walk.depth > MAX_DEPTH) return value
  const schema = deref(given, walk.root)
  if (!isRecord(schema)) return value
  const inner = { ...walk, depth: walk.depth + 1 }
  if (schema !== given) return walk.open.includes(schema) ? value : repair(schema, value, path, { ...inner, open: [...walk.open, schema] })
  const parts = listOf(schema['anyOf'] ?? schema['oneOf'])
  const chosen = repairOneOf(parts, readUnion(schema, parts, value, path, inner), path, inner)
  const changed = retype(schema, chosen, path, inner)
  if (Array.isArray(changed)) return repairItems(schema, changed, path, { ...inner, open: [] })
  if (isRecord(changed)) return repairProperties(schema, changed, path, { ...inner, open: [] })
  if (typeof changed === 'string') return repairEnum(listOf(schema['enum']), withoutTokens(changed, path, inner), path, walk)
  return typeof changed === 'number' ? repairUnit(schema, changed, path, walk) : changed
}

/** A union: untouched when it fits; else the first branch whose repaired value validates. */
function repairOneOf(parts: readonly unknown[], value: unknown, path: Path, walk: Walk): unknown {
  if (parts.some((part) => fits(part, value, walk))) return value
  for (const part of parts) {
    const repairs: Repair[] = []
    const candidate = repair(part, value, path, { ...walk, repairs })
    if (!fits(part, candidate, walk)) continue
    walk.repairs.push(...repairs)
    return candidate
  }
  return value
}

function withoutTokens(value: string, path: Path, walk: Walk): string {
  const bare = value.replace(QUOTE_TOKEN, '')
  return bare === value ? value : note(walk, 'type', path, value, bare, LEFT_ON)
}

function retype(schema: JsonSchema, value: unknown, path: Path, walk: Walk): unknown {
  if (isOfType(schema, value)) return value
  const types = typesOf(schema)
  const change = converted(types, value)
  if (change) return note(walk, 'type', path, value, ...change)
  const { items } = schema
  if (value === null || !types.includes('array') || !isRecord(items) || isContainer(value) || !fits(items, value, walk)) return value
  return note(walk, 'type', path, value, [value], 'a single value where a list belongs')
}

/** `array|string`: a list that came as JSON text, of a read. For effects it stays the valid text that it is. */
function readUnion(schema: JsonSchema, parts: readonly unknown[], value: unknown, path: Path, walk: Walk): unknown {
  const parsed = walk.options.lenient && typeof value === 'string' ? tryJson(value) : undefined
  if (parsed === undefined || !fits(schema, value, walk) || !fits(schema, parsed, walk)) return value
  const takes = [schema, ...parts].some((part) => isRecord(part) && typesOf(recordOf(deref(part, walk.root))).includes(typeOf(parsed)))
  return takes ? note(walk, 'type', path, value, parsed, 'JSON text where a list or an object may stand') : value
}

/** The same value in one of the types, and why it may be. */
function converted(types: readonly string[], value: unknown): readonly [to: unknown, why: string] | undefined {
  const wants = (type: string): boolean => types.includes(type)
  if (Number.isSafeInteger(value) && wants('string')) return [String(value), 'text sent as a number']
  if (typeof value !== 'string') return undefined
  const number = NUMBER.test(value) ? Number(value) : NaN
  if (wants('number') ? Number.isFinite(number) : wants('integer') && Number.isSafeInteger(number)) return [number, 'a number sent as text']
  const word = value.trim()
  if (wants('boolean') && /^(true|false)$/i.test(word)) return [/^t/i.test(word), 'true or false sent as text']
  if (wants('null') && word === 'null') return [null, 'null sent as text']
  const parsed = tryJson(value)
  if (Array.isArray(parsed) && wants('array')) return [parsed, 'a list sent as JSON text']
  return isRecord(parsed) && wants('object') ? [parsed, 'an object sent as JSON text'] : undefined
}

/** A text that is not text: an object, or what is meant for a list. */
const isContainer = (value: unknown): boolean => typeof value === 'string' && (/^\s*\[/.test(value) || tryJson(value) !== undefined)

/** Milliseconds where the schema wants seconds: only beyond its maximum, and only where the text of the schema says seconds. */
function repairUnit(schema: JsonSchema, value: number, path: Path, walk: Walk): number {
  const { maximum, description } = schema
  const seconds = value / 1000
  if (typeof maximum !== 'number' || value <= maximum || value % 100 !== 0 || !fits(schema, seconds, walk)) return value
  if (!SECONDS.test(`${path.at(-1)} ${typeof description === 'string' ? description : ''}`)) return value
  return note(walk, 'unit', path, value, seconds, 'milliseconds where seconds belong')
}

const SECONDS = /(?:^|[^a-z])(?:sec|secs|seconds?)(?![a-z])|_s\b/i

function repairItems(schema: JsonSchema, value: readonly unknown[], path: Path, walk: Walk): unknown {
  const repaired = value.map((item, at) => repair(itemSchema(schema, at), item, [...path, at], walk))
  return repaired.some((item, at) => item !== value[at]) ? repaired : value
}

function repairEnum(allowed: readonly unknown[], value: string, path: Path, walk: Walk): unknown {
  if (!walk.options.lenient || allowed.includes(value)) return value
  const meant = fold(value.replace(/^(['"])(.*)\1$/s, '$2'))
  const [same, ...others] = allowed.filter((one) => typeof one === 'string' && fold(one) === meant)
  return same === undefined || others.length > 0
    ? value
    : note(walk, 'enum', path, value, same, 'the same but for case, separators and quotes')
}

function repairProperties(schema: JsonSchema, value: Record<string, unknown>, path: Path, walk: Walk): Record<string, unknown> {
  const properties = recordOf(schema['properties'])
  const required = listOf(schema['required'])
  const renamed = renameKeys(schema, properties, required, value, path, walk)
  const result = { ...renamed }
  let changed = false
  for (const [key, member] of Object.entries(renamed)) {
    if (!Object.hasOwn(properties, key)) continue
    const inner = [...path, key]
    const isNull = member === null && !required.includes(key) && !fits(properties[key], null, walk)
    const repaired = isNull
      ? note(walk, 'null_dropped', inner, null, undefined, 'null for an optional parameter')
      : repair(properties[key], member, inner, walk)
    if (repaired === member) continue
    changed = true
    if (repaired === undefined) delete result[key]
    else result[key] = repaired
  }
  return changed ? result : renamed
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
  let result = value
  const unknown = new Set(Object.keys(value).filter((key) => !Object.hasOwn(properties, key)))
  const isFree = (key: string): boolean => Object.hasOwn(properties, key) && !Object.hasOwn(result, key)
  /** Where just one key has come for just one parameter. */
  const rename = ([from, ...rivals]: readonly string[], [to, ...others]: readonly string[], why: string): void => {
    if (from === undefined || to === undefined || rivals.length + others.length > 0) return
    result = Object.fromEntries(Object.entries(result).map(([key, member]) => [key === from ? to : key, member]))
    note(walk, 'parameter', [...path, to], from, to, why)
    unknown.delete(from)
  }
  if (unknown.size === 0) return value
  const at = path.map((step) => (typeof step === 'number' ? '[]' : `.${step}`)).join('')
  for (const [name, aliases] of Object.entries(walk.options.parameterAliases ?? {})) {
    const key = `.${name}`.slice(at.length + 1)
    if (`.${name}` !== `${at}.${key}`) continue
    const exact = aliases.filter((alias) => unknown.has(alias))
    const folded = new Set(exact.length > 0 ? [] : aliases.map(fold))
    const named = exact.length > 0 ? exact : [...unknown].filter((one) => folded.has(fold(one)))
    rename(named, [key].filter(isFree), 'another name of this parameter')
  }
  for (const key of unknown) {
    const same = Object.keys(properties).filter((name) => isFree(name) && fold(name) === fold(key))
    rename([key], same, 'the same name but for case and separators')
  }
  const ignored = path.length > 0 ? [] : (walk.options.ignoredParameters ?? []).map(fold)
  const said = new Set([...unknown].filter((key) => ignored.includes(fold(key))))
  result = dropKeys(said, result, path, walk, 'ignored', 'it says nothing here')
  for (const key of said) unknown.delete(key)
  if (!walk.options.lenient) return result
  const isMissing = (key: unknown): key is string => !Object.hasOwn(result, key as string)
  const missing = required.filter(isMissing)
  const [lone = ''] = unknown
  const meant = missing.filter((name) => isRecord(properties[name]) && fits(properties[name], result[lone], walk))
  // Markup in a name may tear the value too.
  if (missing.length === 1 && !lone.includes('<')) rename([...unknown], meant, 'the only unknown parameter, and the only one missing')
  return schema['additionalProperties'] === false && !missing.some(isMissing)
    ? dropKeys(unknown, result, path, walk, 'unknown_dropped', 'no such parameter: it had no effect')
    : result
}

/** All at once, so that many cost no more than linear time. */
function dropKeys(
  keys: ReadonlySet<string>,
  value: Record<string, unknown>,
  path: Path,
  walk: Walk,
  kind: RepairKind,
  why: string,
): Record<string, unknown> {
  for (const key of keys) note(walk, kind, [...path, key], value[key], undefined, why)
  return keys.size === 0 ? value : Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)))
}
