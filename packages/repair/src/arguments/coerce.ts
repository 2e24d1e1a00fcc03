/** Schema-directed coercion: a value is changed only if it does not fit and nothing is lost. Each change is noted. */
import { fold } from '../did-you-mean.ts'
import type { Repair, RepairKind } from '../repair.ts'
import { pathText } from '../schema/issue.ts'
import { type JsonSchema, typeOf, typesOf } from '../schema/types.ts'
import { allowedTypes, deref, isOfType, isRecord, itemSchema, listOf, MAX_VISITS, recordOf, validate } from '../schema/validate.ts'
import { tryJson } from '../text.ts'
import { reshape } from './reshape.ts'

export interface Coerced {
  readonly value: unknown
  readonly repairs: readonly Repair[]
  /** Why a value is a guess, which rules out running a call with effects. */
  readonly doubt?: string
}

export interface CoerceOptions {
  /** Other names of parameters. A path such as `edits[].old_text` reaches into lists. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * For reads: a string may become the enum value that differs only by case, unknown keys may be dropped, and a single unknown key may
   * be renamed to the single missing one.
   */
  readonly lenient: boolean
  /** Names, ignoring case and separators, of parameters that may be present but have no meaning here. */
  readonly ignoredParameters?: readonly string[] | undefined
  /** The tool whose arguments these are. Arguments wrapped in a call of another tool are left alone. */
  readonly toolName?: string | undefined
}

type Path = readonly (string | number)[]
type Fields = Record<string, unknown>

/** Written so that no digit can match in two ways, so text that is not a number is rejected in linear time. */
const NUMBER = /^\s*[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?\s*$/i
const MAX_DEPTH = 100
const SECONDS = /(?:^|[^a-z])sec(?:ond)?s?(?![a-z])|_s\b/i

/** Quote tokens of a model. If they occur, other markup may have been misread too. */
const QUOTE_TOKEN = /^["']?(?:<\|"\|>|<escape>)|(?:<\|"\|>|<escape>)["']?$/g
const LEFT_ON = 'has a token left on it that the model quotes with'

/** Returns the value with everything repaired that could be. The caller must check whether the result is valid. */
export function coerce(root: JsonSchema, given: unknown, options: CoerceOptions): Coerced {
  const { lenient, parameterAliases, ignoredParameters = [], toolName } = options
  const repairs: Repair[] = []

  /** Records a change and returns the new value. */
  function note<T>(kind: RepairKind, path: Path, from: unknown, to: T, why: string): T {
    repairs.push({ kind, parameter: pathText(path), from, to, why })
    return to
  }

  const visits = { left: MAX_VISITS }
  const fits = (schema: unknown, value: unknown): boolean => validate(schema as JsonSchema, value, root, visits).length === 0

  /** @param open schemas already reached by references without going deeper into the value; visiting one again repairs nothing new */
  function repair(given: unknown, value: unknown, path: Path, depth = 0, open: readonly unknown[] = []): unknown {
    if (depth > MAX_DEPTH || --visits.left < 0) return value
    const schema = isRecord(given) ? deref(given, root) : {}
    if (!isRecord(schema)) return value
    if (schema !== given) return open.includes(schema) ? value : repair(schema, value, path, depth + 1, [...open, schema])
    const parts = listOf(schema['anyOf'] ?? schema['oneOf'])
    const read = readUnion(schema, value, path)
    const chosen = parts.some((part) => fits(part, read)) ? read : repairOneOf(parts, read, path, depth, open)
    const changed = retype(schema, withoutTokens(chosen, path), path)
    if (Array.isArray(changed)) {
      const items = changed.map((item, at) => repair(itemSchema(schema, at), item, [...path, at], depth + 1))
      return items.some((item, at) => item !== changed[at]) ? items : changed
    }
    if (isRecord(changed)) return repairProperties(schema, changed, path, depth)
    if (typeof changed === 'string') return repairEnum(listOf(schema['enum']), changed, path)
    return typeof changed === 'number' ? repairUnit(schema, changed, path) : changed
  }

  /** Returns the first branch of a union whose repaired value validates. */
  function repairOneOf(parts: readonly unknown[], value: unknown, path: Path, depth: number, open: readonly unknown[]): unknown {
    const before = repairs.length
    for (const part of parts) {
      const candidate = repair(part, value, path, depth + 1, open)
      if (fits(part, candidate)) return candidate
      repairs.length = before
    }
    return value
  }

  function withoutTokens(value: unknown, path: Path): unknown {
    const bare = typeof value === 'string' ? value.replace(QUOTE_TOKEN, '') : value
    return bare === value ? value : note('type', path, value, bare, LEFT_ON)
  }

  function retype(schema: JsonSchema, value: unknown, path: Path): unknown {
    if (isOfType(schema, value)) return value
    const types = typesOf(schema)
    const change = converted(types, value)
    if (change) return note('type', path, value, ...change)
    const { items } = schema
    if (value === null || !types.includes('array') || !isRecord(items) || isContainer(value) || !fits(items, value)) return value
    return note('type', path, value, [value], 'a single value where a list belongs')
  }

  /** Reads a list sent as JSON text for `array|string`, for reads only. For calls with effects it stays the valid string that it is. */
  function readUnion(schema: JsonSchema, value: unknown, path: Path): unknown {
    const parsed = lenient && typeof value === 'string' ? tryJson(value) : undefined
    const takes = parsed !== undefined && allowedTypes(schema, root).has(typeOf(parsed)) && fits(schema, value) && fits(schema, parsed)
    return takes ? note('type', path, value, parsed, 'JSON text where a list or an object may stand') : value
  }

  /** Converts milliseconds to seconds, but only if the value exceeds the maximum and the schema's text says seconds. */
  function repairUnit(schema: JsonSchema, value: number, path: Path): number {
    const { maximum, description } = schema
    const seconds = value / 1000
    if (typeof maximum !== 'number' || value <= maximum || value % 100 !== 0 || !fits(schema, seconds)) return value
    if (!SECONDS.test(`${path.at(-1)} ${typeof description === 'string' ? description : ''}`)) return value
    return note('unit', path, value, seconds, 'milliseconds where seconds belong')
  }

  function repairEnum(allowed: readonly unknown[], value: string, path: Path): unknown {
    if (!lenient || allowed.includes(value)) return value
    const meant = fold(value.replace(/^(['"])(.*)\1$/s, '$2'))
    const [same, ...others] = allowed.filter((one) => typeof one === 'string' && fold(one) === meant)
    const isClear = same !== undefined && others.length === 0
    return isClear ? note('enum', path, value, same, 'the same but for case, separators and quotes') : value
  }

  function repairProperties(schema: JsonSchema, value: Fields, path: Path, depth: number): Fields {
    const properties = recordOf(schema['properties'])
    const required = listOf(schema['required'])
    const renamed = renameKeys(schema, properties, required, value, path)
    const entries = Object.entries(renamed).map(([key, member]): [string, unknown] => {
      const child = Object.hasOwn(properties, key) ? properties[key] : {}
      const isNull = member === null && !required.includes(key) && !fits(child, null)
      if (isNull) return [key, note('null_dropped', [...path, key], null, undefined, 'null for an optional parameter')]
      return [key, repair(child, member, [...path, key], depth + 1)]
    })
    const isSame = entries.every(([key, member]) => member === renamed[key])
    return isSame ? renamed : Object.fromEntries(entries.filter(([key, member]) => member !== undefined || renamed[key] === undefined))
  }

  /** Renames declared aliases and keys that differ by case or separators; for reads, also a single unknown key. Drops keys to ignore. */
  function renameKeys(schema: JsonSchema, properties: Fields, required: readonly unknown[], value: Fields, path: Path): Fields {
    let result = value
    const unknown = new Set(Object.keys(value).filter((key) => !Object.hasOwn(properties, key)))
    if (unknown.size === 0) return value
    const isFree = (key: string): boolean => Object.hasOwn(properties, key) && !Object.hasOwn(result, key)
    /** Renames a key if exactly one key matches exactly one parameter. */
    const rename = ([from, ...rivals]: readonly string[], [to, ...others]: readonly string[], why: string): void => {
      if (from === undefined || to === undefined || rivals.length + others.length > 0) return
      result = Object.fromEntries(Object.entries(result).map(([key, member]) => [key === from ? to : key, member]))
      note('parameter', [...path, to], from, to, why)
      unknown.delete(from)
    }
    /** Drops all keys at once to keep the cost linear. */
    const drop = (keys: readonly string[], kind: RepairKind, why: string): void => {
      const gone = new Set(keys)
      for (const key of gone) {
        note(kind, [...path, key], result[key], undefined, why)
        unknown.delete(key)
      }
      if (gone.size > 0) result = Object.fromEntries(Object.entries(result).filter(([key]) => !gone.has(key)))
    }
    const aliasesOf = new Map(Object.entries(parameterAliases ?? {}))
    const at = path.map((step) => (typeof step === 'number' ? '[]' : `.${step}`)).join('')
    for (const name of Object.keys(properties)) {
      const aliases = aliasesOf.get(`${at}.${name}`.slice(1)) ?? []
      const exact = aliases.filter((alias) => unknown.has(alias))
      const folded = aliases.map(fold)
      const named = exact.length > 0 ? exact : [...unknown].filter((one) => folded.includes(fold(one)))
      rename(named, [name].filter(isFree), 'another name of this parameter')
    }
    for (const key of unknown) {
      const same = Object.keys(properties).filter((name) => isFree(name) && fold(name) === fold(key))
      rename([key], same, 'the same name but for case and separators')
    }
    const ignored = path.length > 0 ? [] : ignoredParameters.map(fold)
    drop(
      [...unknown].filter((key) => ignored.includes(fold(key))),
      'ignored',
      'it says nothing here',
    )
    if (!lenient) return result
    const isMissing = (key: unknown): key is string => !Object.hasOwn(result, key as string)
    const missing = required.filter(isMissing)
    const [lone = ''] = unknown
    const meant = missing.filter((name) => isRecord(properties[name]) && fits(properties[name], result[lone]))
    // Markup in a name may have damaged the value too.
    if (missing.length === 1 && !lone.includes('<')) rename([...unknown], meant, 'the only unknown parameter, and the only one missing')
    if (schema['additionalProperties'] === false && !missing.some(isMissing))
      drop([...unknown], 'unknown_dropped', 'no such parameter: it had no effect')
    return result
  }

  const value = repair(root, isRecord(given) ? reshape(root, given, repairs, toolName) : given, [])
  const doubt = lenient ? undefined : repairs.find(({ why }) => why === LEFT_ON)
  return { value, repairs, ...(doubt && { doubt: `"${doubt.parameter}" ${LEFT_ON}` }) }
}

/** Converts the value to one of the types. Returns the result and the reason. */
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

/** Returns whether a string is really an object or a list. */
const isContainer = (value: unknown): boolean => typeof value === 'string' && (/^\s*\[/.test(value) || tryJson(value) !== undefined)
