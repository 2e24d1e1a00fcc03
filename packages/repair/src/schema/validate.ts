/**
 * Validates plain data against JSON Schema 2020-12 and reports issues suitable for hints. Generates no code, so it runs on edge
 * runtimes.
 */
import { canonical, equal } from '../canonical.ts'
import { nearest } from '../did-you-mean.ts'
import type { Issue } from './issue.ts'
import { isExplosive, LONG } from './pattern.ts'
import { type JsonSchema, typeOf, typesOf } from './types.ts'

type Path = readonly (string | number)[]

const MAX_DEPTH = 200
/** Schemas visited in one check, or in one repair: about a second. References that double take 2ⁿ visits for n of them. */
export const MAX_VISITS = 1_000_000

/** Visits that are left. When there are none, nothing fits any more. */
export interface Visits {
  left: number
}

export type Issues = readonly [Issue, ...Issue[]]

/** The result of checking a value against a schema. */
export type JsonCheck = { readonly ok: true } | { readonly ok: false; readonly issues: Issues }

export function checkJson(schema: JsonSchema, value: unknown): JsonCheck {
  const [first, ...more] = validate(schema, value)
  return first ? { ok: false, issues: [first, ...more] } : { ok: true }
}

/** Records a failed keyword; `more` may name a place other than the value itself. */
type Fail = (keyword: string, constraint: string, more?: Partial<Issue>) => void

/**
 * Returns the issues of `value`; empty if it is valid. Unknown keywords, `format` and remote `$ref`s are not checked.
 * @param visits shared by several checks. Default: those of one check
 */
export function validate(given: JsonSchema, input: unknown, root: JsonSchema = given, visits: Visits = { left: MAX_VISITS }): Issue[] {
  const issues: Issue[] = []

  /** Returns the issues of one schema on its own. */
  function issuesOf(schema: unknown, value: unknown, path: Path, depth: number, open: readonly unknown[]): Issue[] {
    const before = issues.length
    node(schema, value, path, depth, open)
    return issues.splice(before)
  }

  /** @param open schemas already reached by references without going deeper into the value; visiting one again checks nothing new */
  function node(schema: unknown, value: unknown, path: Path, depth: number, open: readonly unknown[] = []): void {
    const fail: Fail = (keyword, constraint, more) => {
      issues.push({ path, keyword, value, constraint, ...more })
    }
    if (schema === false) fail('false', 'absent')
    if (!isRecord(schema) || --visits.left < 0) return
    if (depth > MAX_DEPTH) {
      fail('depth', `at most ${MAX_DEPTH} levels deep`)
      return
    }
    const target = deref(schema, root)
    if (target !== schema && !open.includes(target)) node(target, value, path, depth + 1, [...open, target])
    if (!isOfType(schema, value)) {
      fail('type', typesText(typesOf(schema)))
      return
    }
    values(schema, value, fail)
    if (typeof value === 'string') strings(schema, value, fail)
    else if (typeof value === 'number') numbers(schema, value, fail)
    else if (Array.isArray(value)) arrays(schema, value, path, depth + 1, fail)
    else if (isRecord(value)) objects(schema, value, path, depth + 1, fail)
    combined(schema, value, path, depth + 1, open, fail)
  }

  function arrays(schema: JsonSchema, value: readonly unknown[], path: Path, depth: number, fail: Fail): void {
    const { uniqueItems, contains, minContains } = schema
    limit(schema, 'minItems', value.length, fail, 'a list of at least #')
    limit(schema, 'maxItems', value.length, fail, 'a list of at most #', (bound) => value.slice(0, bound))
    if (uniqueItems === true && new Set(value.map((item) => canonical(item))).size < value.length)
      fail('uniqueItems', 'a list without doubles')
    for (const [at, item] of value.entries()) node(itemSchema(schema, at), item, [...path, at], depth)
    if (contains !== undefined && minContains !== 0 && !value.some((item) => issuesOf(contains, item, [], depth, []).length === 0))
      fail('contains', 'a list that holds the required item')
  }

  function objects(schema: JsonSchema, value: Record<string, unknown>, path: Path, depth: number, fail: Fail): void {
    const properties = recordOf(schema['properties'])
    const patterns = recordOf(schema['patternProperties'])
    const { additionalProperties: extra, propertyNames: names, dependentRequired } = schema
    const keys = Object.keys(value)
    const missing = (key: unknown): key is string => !Object.hasOwn(value, key as string)
    const unknown: string[] = []
    for (const key of keys) {
      let isKnown = Object.hasOwn(properties, key)
      if (isKnown) node(properties[key], value[key], [...path, key], depth)
      for (const pattern in patterns) {
        if (!regex(pattern, key)?.test(key)) continue
        isKnown = true
        node(patterns[pattern], value[key], [...path, key], depth)
      }
      if (isKnown) continue
      if (extra === false) unknown.push(key)
      else node(extra, value[key], [...path, key], depth)
    }
    const require = (key: string, constraint: string): void => fail('required', constraint, { path: [...path, key], value: undefined })
    for (const key of listOf(schema['required']).filter(missing)) require(key, describe(properties[key], root))
    const declared = unknown.length > 0 ? Object.keys(properties) : []
    for (const key of unknown) {
      const [meant] = nearest(key, declared.filter(missing))
      const more = { path: [...path, key], value: value[key], unknownKey: key, ...(meant !== undefined && { meantKey: meant }) }
      fail('additionalProperties', `one of the declared parameters: ${declared.join(', ') || 'none'}`, more)
    }
    limit(schema, 'minProperties', keys.length, fail, 'an object with at least # keys')
    limit(schema, 'maxProperties', keys.length, fail, 'an object with at most # keys')
    if (names !== undefined) for (const key of keys) node(names, key, [...path, key], depth)
    for (const [key, needs] of Object.entries(recordOf(dependentRequired)))
      if (!missing(key)) for (const need of listOf(needs).filter(missing)) require(need, `given, because ${key} is`)
  }

  function combined(schema: JsonSchema, value: unknown, path: Path, depth: number, open: readonly unknown[], fail: Fail): void {
    const { anyOf, oneOf, not } = schema
    const passes = (part: unknown): boolean => issuesOf(part, value, [], depth, open).length === 0
    /** Reports the issues of the closest branch if no branch fits. If all differ in type, it reports the types together. */
    const closest = (parts: readonly unknown[]): void => {
      const tried = parts.map((part) => issuesOf(part, value, path, depth, open))
      const best = tried.toSorted((a, b) => weight(a, path) - weight(b, path))[0] ?? []
      if (weight(best, path) >= WRONG_TYPE) fail('type', anyOfText(parts, root))
      else issues.push(...best)
    }
    for (const part of listOf(schema['allOf'])) node(part, value, path, depth, open)
    if (Array.isArray(anyOf)) closest(anyOf)
    if (Array.isArray(oneOf)) {
      const matching = oneOf.filter(passes).length
      if (matching === 0) closest(oneOf)
      else if (matching > 1) fail('oneOf', 'of exactly one of the allowed shapes')
    }
    if (not !== undefined && passes(not)) fail('not', 'not of the excluded shape')
    if (schema['if'] !== undefined) node(passes(schema['if']) ? schema['then'] : schema['else'], value, path, depth, open)
  }

  node(given, input, [], 0)
  return visits.left < 0 ? [{ path: [], keyword: 'visits', value: input, constraint: 'simpler' }] : issues
}

const WRONG_TYPE = 1000
const weight = (issues: readonly Issue[], path: Path): number =>
  issues.reduce((sum, issue) => {
    if (issue.keyword === 'type' && issue.path.length === path.length) return sum + WRONG_TYPE
    return sum + (issue.keyword === 'const' ? 10 : 1)
  }, 0)

/** Returns the schema that a local `$ref` points to, or the schema itself if it has none. */
export function deref(schema: JsonSchema, root: JsonSchema): unknown {
  const ref = schema['$ref']
  if (typeof ref !== 'string') return schema
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return true
  let target: unknown = root
  for (const raw of ref.slice(2).split('/')) {
    const key = decodeStep(raw).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : true
  }
  return target
}

/** A stray `%` in a name must not cause an exception. */
function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Returns whether the value has the schema's type. Also true if the schema names no type. */
export function isOfType(schema: JsonSchema, value: unknown): boolean {
  const types = typesOf(schema)
  const got = typeOf(value)
  return types.length === 0 || types.includes(got) || (got === 'integer' && types.includes('number'))
}

/** Returns the types that a schema accepts, following references and unions; empty if it accepts anything. */
export function allowedTypes(schema: unknown, root: JsonSchema, open: readonly unknown[] = []): ReadonlySet<string> {
  if (!isRecord(schema) || open.includes(schema)) return new Set()
  const target = deref(schema, root)
  if (target !== schema) return allowedTypes(target, root, [...open, schema])
  const types = typesOf(schema)
  if (types.length > 0) return new Set(types)
  if ('const' in schema) return new Set([jsonType(schema['const'])])
  if (Array.isArray(schema['enum'])) return new Set(schema['enum'].map(jsonType))
  const parts = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']
  if (!Array.isArray(parts)) return new Set()
  const each = parts.map((part) => allowedTypes(part, root, [...open, schema]))
  return each.some((one) => one.size === 0) && !schema['allOf'] ? new Set() : new Set(each.flatMap((one) => [...one]))
}

/** Returns the type of a JSON value; `number` for whole numbers too. */
export const jsonType = (value: unknown): string => typeOf(value).replace('integer', 'number')

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

/** Returns the schema for the item at index `at` of a list. */
export function itemSchema(schema: JsonSchema, at: number): unknown {
  const prefix = listOf(schema['prefixItems'])
  return at < prefix.length ? prefix[at] : schema['items']
}

function values(schema: JsonSchema, value: unknown, fail: Fail): void {
  if ('const' in schema && !equal(schema['const'], value)) fail('const', show(schema['const']), { suggestion: schema['const'] })
  const allowed = schema['enum']
  if (!Array.isArray(allowed) || allowed.some((one) => equal(one, value))) return
  const texts = allowed.filter((one) => typeof one === 'string')
  const near = typeof value === 'string' ? nearest(value, texts) : []
  fail('enum', oneOfText(allowed), near.length > 0 ? { suggestion: near[0], candidates: near } : { candidates: allowed })
}

/** Checks a bound if the schema sets one. `says` contains `#` in its place. */
function limit(schema: JsonSchema, keyword: string, size: number, fail: Fail, says: string, suggest?: (bound: number) => unknown): void {
  const bound = schema[keyword]
  if (typeof bound !== 'number') return
  const beyond = /min/i.test(keyword) ? bound - size : size - bound
  if (beyond > 0 || (beyond === 0 && keyword[0] === 'e'))
    fail(keyword, says.replace('#', String(bound)), suggest && { suggestion: suggest(bound) })
}

function strings(schema: JsonSchema, value: string, fail: Fail): void {
  const { pattern, minLength, maxLength } = schema
  if (minLength !== undefined || maxLength !== undefined) {
    const size = [...value].length
    limit(schema, 'minLength', size, fail, minLength === 1 ? 'not empty' : 'at least # characters')
    limit(schema, 'maxLength', size, fail, `at most # characters, not ${size}`)
  }
  if (typeof pattern === 'string' && regex(pattern, value)?.test(value) === false) fail('pattern', `text that matches /${pattern}/`)
}

function numbers(schema: JsonSchema, value: number, fail: Fail): void {
  const same = (bound: number): number => bound
  /** The smallest difference that counts. */
  const gap = (bound: number): number => (typesOf(schema).includes('integer') ? 1 : Math.max(1e-6, Math.abs(bound) * 1e-6))
  limit(schema, 'minimum', value, fail, 'at least #', same)
  limit(schema, 'maximum', value, fail, 'at most #', same)
  limit(schema, 'exclusiveMinimum', value, fail, 'more than #', (bound) => bound + gap(bound))
  limit(schema, 'exclusiveMaximum', value, fail, 'less than #', (bound) => bound - gap(bound))
  const { multipleOf } = schema
  if (typeof multipleOf !== 'number') return
  const steps = Math.round(value / multipleOf)
  if (Math.abs(value / multipleOf - steps) > 1e-9) fail('multipleOf', `a multiple of ${multipleOf}`, { suggestion: steps * multipleOf })
}

/** Describes a schema as a phrase: "a string", "one of "a", "b"", "a list of strings". */
export function describe(schema: unknown, root: JsonSchema, open: readonly unknown[] = []): string {
  if (!isRecord(schema) || open.includes(schema)) return 'a value'
  const inner = [...open, schema]
  const target = deref(schema, root)
  if (target !== schema) return describe(target, root, inner)
  if ('const' in schema) return show(schema['const'])
  if (Array.isArray(schema['enum'])) return oneOfText(schema['enum'])
  const parts = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(parts) ? anyOfText(parts, root, inner) : typesText(typesOf(schema)) || 'a value'
}

const oneOfText = (allowed: readonly unknown[]): string => `one of ${allowed.map(show).join(', ')}`
const anyOfText = (parts: readonly unknown[], root: JsonSchema, open?: readonly unknown[]): string =>
  parts.map((part) => describe(part, root, open)).join(' or ')
const typesText = (types: readonly string[]): string => types.map((type) => PHRASES[type] ?? `a ${type}`).join(' or ')

const PHRASES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}
const show = (value: unknown): string => JSON.stringify(value) ?? 'undefined'
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const compiled = new Map<string, RegExp | undefined>()
/** Compiles a pattern, unless it may hang on the text: the pattern comes with the tool, and the text from the model. */
function regex(pattern: string, text: string): RegExp | undefined {
  if (compiled.size > 1000) compiled.clear()
  const isLong = text.length > LONG
  const key = `${isLong} ${pattern}`
  if (!compiled.has(key)) compiled.set(key, isExplosive(pattern, isLong) ? undefined : (compile(pattern, 'u') ?? compile(pattern)))
  return compiled.get(key)
}

function compile(pattern: string, flags?: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return undefined
  }
}
