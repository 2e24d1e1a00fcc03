/** JSON Schema 2020-12 over plain data, with issues a hint can be made of. No code generation, so it runs on edge runtimes. */
import { canonical, equal } from '../canonical.ts'
import { nearest } from '../did-you-mean.ts'
import type { Issue } from './issue.ts'
import type { JsonSchema } from './json-schema.ts'
import { isExplosive } from './pattern.ts'
import { typesOf } from './types.ts'

type Path = readonly (string | number)[]
interface Context {
  readonly root: JsonSchema
  readonly issues: Issue[]
  readonly depth: number
  /** What references have led to without going deeper into the value: to come to it again asks nothing new. */
  readonly open: readonly unknown[]
}

const MAX_DEPTH = 200

export type Issues = readonly [Issue, ...Issue[]]

/** What a schema says of a value. */
export type JsonCheck = { readonly ok: true } | { readonly ok: false; readonly issues: Issues }

export function checkJson(schema: JsonSchema, value: unknown): JsonCheck {
  const [first, ...more] = validate(schema, value)
  return first ? { ok: false, issues: [first, ...more] } : { ok: true }
}

/** What is wrong with `value`; empty when nothing is. Unknown keywords, `format` and remote `$ref`s are not checked. */
export function validate(schema: JsonSchema, value: unknown, root: JsonSchema = schema): Issue[] {
  const issues: Issue[] = []
  node(schema, value, [], { root, issues, depth: 0, open: [] })
  return issues
}

/** Notes that a keyword is not kept; `more` may name another place than the value itself. */
type Fail = (keyword: string, constraint: string, more?: Partial<Issue>) => void

function node(schema: unknown, value: unknown, path: Path, context: Context): void {
  const fail: Fail = (keyword, constraint, more) => {
    context.issues.push({ path, keyword, value, constraint, ...more })
  }
  if (schema === false) fail('false', 'absent')
  if (!isRecord(schema)) return
  if (context.depth > MAX_DEPTH) {
    fail('depth', `at most ${MAX_DEPTH} levels deep`)
    return
  }
  const inner = { ...context, depth: context.depth + 1 }
  const target = deref(schema, context.root)
  if (target !== schema && !context.open.includes(target)) node(target, value, path, { ...inner, open: [...context.open, target] })
  if (!isOfType(schema, value)) {
    fail('type', typesText(typesOf(schema)))
    return
  }
  values(schema, value, fail)
  if (typeof value === 'string') strings(schema, value, fail)
  else if (typeof value === 'number') numbers(schema, value, fail)
  else if (Array.isArray(value)) arrays(schema, value, path, { ...inner, open: [] }, fail)
  else if (isRecord(value)) objects(schema, value, path, { ...inner, open: [] }, fail)
  combined(schema, value, path, inner, fail)
}

/** The schema a local `$ref` points to, otherwise the schema itself. */
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

/** A stray `%` in a name is no reason to throw. */
function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The JSON Schema type of a value; a whole number is `integer`. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** Also where the schema names no type. */
export function isOfType(schema: JsonSchema, value: unknown): boolean {
  const types = typesOf(schema)
  const got = typeOf(value)
  return types.length === 0 || types.includes(got) || (got === 'integer' && types.includes('number'))
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

/** What the item at that place of a list must be. */
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

/** A bound, where the schema sets one. `says` has it as `#`. */
function limit(schema: JsonSchema, keyword: string, size: number, fail: Fail, says: string, suggest?: (bound: number) => unknown): void {
  const bound = schema[keyword]
  if (typeof bound !== 'number') return
  const beyond = /min/i.test(keyword) ? bound - size : size - bound
  if (beyond > 0 || (beyond === 0 && keyword[0] === 'e'))
    fail(keyword, says.replace('#', String(bound)), suggest && { suggestion: suggest(bound) })
}

function strings(schema: JsonSchema, value: string, fail: Fail): void {
  const { pattern, minLength } = schema
  const size = [...value].length
  limit(schema, 'minLength', size, fail, minLength === 1 ? 'not empty' : 'at least # characters')
  limit(schema, 'maxLength', size, fail, `at most # characters, not ${size}`)
  if (typeof pattern === 'string' && regex(pattern)?.test(value) === false) fail('pattern', `text that matches /${pattern}/`)
}

function numbers(schema: JsonSchema, value: number, fail: Fail): void {
  const same = (bound: number): number => bound
  /** The least difference that counts. */
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

function arrays(schema: JsonSchema, value: readonly unknown[], path: Path, context: Context, fail: Fail): void {
  const { uniqueItems, contains, minContains } = schema
  limit(schema, 'minItems', value.length, fail, 'a list of at least #')
  limit(schema, 'maxItems', value.length, fail, 'a list of at most #', (bound) => value.slice(0, bound))
  if (uniqueItems === true && new Set(value.map((item) => canonical(item))).size < value.length)
    fail('uniqueItems', 'a list without doubles')
  value.forEach((item, at) => {
    node(itemSchema(schema, at), item, [...path, at], context)
  })
  if (contains !== undefined && minContains !== 0 && !value.some((item) => passes(contains, item, context)))
    fail('contains', 'a list that holds the required item')
}

function objects(schema: JsonSchema, value: Record<string, unknown>, path: Path, context: Context, fail: Fail): void {
  const properties = recordOf(schema['properties'])
  const patterns = Object.entries(recordOf(schema['patternProperties']))
  const extra = schema['additionalProperties']
  const keys = Object.keys(value)
  const declared = Object.keys(properties)
  const missing = (key: unknown): key is string => !Object.hasOwn(value, key as string)
  const unknown: string[] = []
  for (const key of keys) {
    const children = patterns.filter(([pattern]) => regex(pattern)?.test(key)).map(([, child]) => child)
    if (Object.hasOwn(properties, key)) children.unshift(properties[key])
    if (children.length === 0)
      if (extra === false) unknown.push(key)
      else children.push(extra)
    for (const child of children) node(child, value[key], [...path, key], context)
  }
  const require = (key: string, constraint: string): void => fail('required', constraint, { path: [...path, key], value: undefined })
  for (const key of listOf(schema['required']).filter(missing)) require(key, describe(properties[key], context.root))
  for (const key of unknown) {
    const [meant] = nearest(key, declared.filter(missing))
    fail('additionalProperties', `one of the declared parameters: ${declared.join(', ') || 'none'}`, {
      path: [...path, key],
      value: value[key],
      unknownKey: key,
      ...(meant !== undefined && { meantKey: meant }),
    })
  }
  limit(schema, 'minProperties', keys.length, fail, 'an object with at least # keys')
  limit(schema, 'maxProperties', keys.length, fail, 'an object with at most # keys')
  for (const key of keys) node(schema['propertyNames'], key, [...path, key], context)
  for (const [key, needs] of Object.entries(recordOf(schema['dependentRequired'])))
    if (!missing(key)) for (const need of listOf(needs).filter(missing)) require(need, `given, because ${key} is`)
}

function combined(schema: JsonSchema, value: unknown, path: Path, context: Context, fail: Fail): void {
  const { anyOf, oneOf, not } = schema
  for (const part of listOf(schema['allOf'])) node(part, value, path, context)
  if (Array.isArray(anyOf)) closest(anyOf, value, path, context, fail)
  if (Array.isArray(oneOf)) {
    const matching = oneOf.filter((part) => passes(part, value, context)).length
    if (matching === 0) closest(oneOf, value, path, context, fail)
    else if (matching > 1) fail('oneOf', 'of exactly one of the allowed shapes')
  }
  if (not !== undefined && passes(not, value, context)) fail('not', 'not of the excluded shape')
  if (schema['if'] !== undefined) node(passes(schema['if'], value, context) ? schema['then'] : schema['else'], value, path, context)
}

/** Of several shapes none of which fits, the issues of the one that fits best; where all differ in type, the types together. */
function closest(parts: readonly unknown[], value: unknown, path: Path, context: Context, fail: Fail): void {
  let best: Issue[] | undefined
  for (const part of parts) {
    const issues: Issue[] = []
    node(part, value, path, { ...context, issues })
    if (best === undefined || weight(issues, path) < weight(best, path)) best = issues
  }
  if (best === undefined) return
  if (weight(best, path) >= WRONG_TYPE) fail('type', anyOfText(parts, context.root))
  else context.issues.push(...best)
}

const WRONG_TYPE = 1000
const weight = (issues: readonly Issue[], path: Path): number =>
  issues.reduce((sum, issue) => {
    if (issue.keyword === 'type' && issue.path.length === path.length) return sum + WRONG_TYPE
    return sum + (issue.keyword === 'const' ? 10 : 1)
  }, 0)

function passes(schema: unknown, value: unknown, context: Context): boolean {
  const issues: Issue[] = []
  node(schema, value, [], { ...context, issues })
  return issues.length === 0
}

/** A schema as a phrase: "a string", "one of "a", "b"", "a list of strings". */
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
const typesText = (types: readonly string[]): string => types.map((type) => ARTICLES[type] ?? type).join(' or ')

const ARTICLES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
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
function regex(pattern: string): RegExp | undefined {
  if (compiled.size > 1000) compiled.clear()
  // A pattern that may take for ever is not asked: it comes with the tool, and the text from the model.
  if (!compiled.has(pattern)) compiled.set(pattern, isExplosive(pattern) ? undefined : (compile(pattern, 'u') ?? compile(pattern)))
  return compiled.get(pattern)
}

function compile(pattern: string, flags?: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return undefined
  }
}
