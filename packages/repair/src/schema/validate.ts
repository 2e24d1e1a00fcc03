/** JSON Schema 2020-12 over plain data, with issues a hint can be made of. No code generation, so it runs on edge runtimes. */
import { canonical, equal } from '../canonical.ts'
import { nearest } from '../did-you-mean.ts'
import type { Issue } from './issue.ts'
import type { JsonSchema } from './json-schema.ts'

type Path = readonly (string | number)[]
interface Context {
  readonly root: JsonSchema
  readonly issues: Issue[]
  readonly depth: number
  /** What references have led to without going deeper into the value: to come to it again asks nothing new. */
  readonly open: readonly unknown[]
}

const MAX_DEPTH = 200

/** What is wrong with `value`; empty when nothing is. Unknown keywords, `format` and remote `$ref`s are not checked. */
export function validate(schema: JsonSchema, value: unknown, root: JsonSchema = schema): Issue[] {
  const issues: Issue[] = []
  node(schema, value, [], { root, issues, depth: 0, open: [] })
  return issues
}

function node(schema: unknown, value: unknown, path: Path, context: Context): void {
  if (schema === true || schema === undefined) return
  if (schema === false) return void context.issues.push({ path, keyword: 'false', value, constraint: 'absent' })
  if (!isRecord(schema)) return
  if (context.depth > MAX_DEPTH)
    return void context.issues.push({ path, keyword: 'depth', value, constraint: `at most ${MAX_DEPTH} levels deep` })
  const inner = { ...context, depth: context.depth + 1 }
  const target = deref(schema, context.root)
  if (target !== schema && !context.open.includes(target)) node(target, value, path, { ...inner, open: [...context.open, target] })
  if (!typeMatches(schema, value, path, context)) return
  values(schema, value, path, context)
  if (typeof value === 'string') strings(schema, value, path, context)
  else if (typeof value === 'number') numbers(schema, value, path, context)
  else if (Array.isArray(value)) arrays(schema, value, path, { ...inner, open: [] })
  else if (isRecord(value)) objects(schema, value, path, { ...inner, open: [] })
  combined(schema, value, path, inner)
}

/** The schema a local `$ref` points to, else the schema itself. */
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

/** The types a schema allows; empty when it doesn't say. */
export function typesOf(schema: JsonSchema): readonly string[] {
  const type = schema['type']
  return typeof type === 'string' ? [type] : Array.isArray(type) ? type : []
}

function typeMatches(schema: JsonSchema, value: unknown, path: Path, { issues }: Context): boolean {
  const types = typesOf(schema)
  const got = typeOf(value)
  if (types.length === 0 || types.includes(got) || (got === 'integer' && types.includes('number'))) return true
  issues.push({ path, keyword: 'type', value, constraint: types.map(article).join(' or ') })
  return false
}

function values(schema: JsonSchema, value: unknown, path: Path, { issues }: Context): void {
  if ('const' in schema && !equal(schema['const'], value))
    issues.push({ path, keyword: 'const', value, constraint: show(schema['const']), suggestion: schema['const'] })
  const allowed = schema['enum']
  if (!Array.isArray(allowed) || allowed.some((one) => equal(one, value))) return
  const near =
    typeof value === 'string'
      ? nearest(
          value,
          allowed.filter((one) => typeof one === 'string'),
        )
      : []
  issues.push({
    path,
    keyword: 'enum',
    value,
    constraint: `one of ${allowed.map(show).join(', ')}`,
    ...(near.length > 0 && { suggestion: near[0] }),
    candidates: near.length > 0 ? near : allowed,
  })
}

function strings(schema: JsonSchema, value: string, path: Path, { issues }: Context): void {
  const { minLength, maxLength, pattern } = schema
  if (typeof minLength === 'number' && length(value) < minLength)
    issues.push({ path, keyword: 'minLength', value, constraint: minLength === 1 ? 'not empty' : `at least ${minLength} characters` })
  if (typeof maxLength === 'number' && length(value) > maxLength)
    issues.push({ path, keyword: 'maxLength', value, constraint: `at most ${maxLength} characters, not ${length(value)}` })
  if (typeof pattern === 'string' && regex(pattern)?.test(value) === false)
    issues.push({ path, keyword: 'pattern', value, constraint: `text that matches /${pattern}/` })
}

function numbers(schema: JsonSchema, value: number, path: Path, { issues }: Context): void {
  const whole = typesOf(schema).includes('integer')
  const bound = (keyword: string, fails: (limit: number) => boolean, says: string, fix: (limit: number) => number): void => {
    const limit = schema[keyword]
    if (typeof limit === 'number' && fails(limit))
      issues.push({ path, keyword, value, constraint: `${says} ${limit}`, suggestion: fix(limit) })
  }
  const same = (limit: number): number => limit
  bound('minimum', (limit) => value < limit, 'at least', same)
  bound('maximum', (limit) => value > limit, 'at most', same)
  bound(
    'exclusiveMinimum',
    (limit) => value <= limit,
    'more than',
    (limit) => limit + (whole ? 1 : Math.max(1e-6, Math.abs(limit) * 1e-6)),
  )
  bound(
    'exclusiveMaximum',
    (limit) => value >= limit,
    'less than',
    (limit) => limit - (whole ? 1 : Math.max(1e-6, Math.abs(limit) * 1e-6)),
  )
  const step = schema['multipleOf']
  if (typeof step === 'number' && Math.abs(value / step - Math.round(value / step)) > 1e-9)
    issues.push({ path, keyword: 'multipleOf', value, constraint: `a multiple of ${step}`, suggestion: Math.round(value / step) * step })
}

function arrays(schema: JsonSchema, value: readonly unknown[], path: Path, context: Context): void {
  const { issues } = context
  const { minItems, maxItems, uniqueItems, contains, minContains } = schema
  if (typeof minItems === 'number' && value.length < minItems)
    issues.push({ path, keyword: 'minItems', value, constraint: `a list of at least ${minItems}` })
  if (typeof maxItems === 'number' && value.length > maxItems)
    issues.push({ path, keyword: 'maxItems', value, constraint: `a list of at most ${maxItems}`, suggestion: value.slice(0, maxItems) })
  if (uniqueItems === true && new Set(value.map((item) => canonical(item))).size < value.length)
    issues.push({ path, keyword: 'uniqueItems', value, constraint: 'a list without doubles' })
  const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
  value.forEach((item, at) => {
    node(at < prefix.length ? prefix[at] : schema['items'], item, [...path, at], context)
  })
  if (contains !== undefined && minContains !== 0 && !value.some((item) => passes(contains, item, context)))
    issues.push({ path, keyword: 'contains', value, constraint: 'a list that holds the required item' })
}

function objects(schema: JsonSchema, value: Record<string, unknown>, path: Path, context: Context): void {
  const { issues } = context
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const patterns = isRecord(schema['patternProperties']) ? Object.entries(schema['patternProperties']) : []
  const missing = (Array.isArray(schema['required']) ? schema['required'] : []).filter((key) => !Object.hasOwn(value, key))
  const extra = schema['additionalProperties']
  const keys = Object.keys(value)
  const unknown: string[] = []
  for (const key of keys) {
    let known = false
    if (Object.hasOwn(properties, key)) {
      known = true
      node(properties[key], value[key], [...path, key], context)
    }
    for (const [pattern, child] of patterns)
      if (regex(pattern)?.test(key)) {
        known = true
        node(child, value[key], [...path, key], context)
      }
    if (known) continue
    if (extra === false) unknown.push(key)
    else if (extra !== undefined) node(extra, value[key], [...path, key], context)
  }
  const declared = Object.keys(properties)
  for (const key of missing)
    issues.push({ path: [...path, key], keyword: 'required', value: undefined, constraint: describe(properties[key], context.root) })
  for (const key of unknown) {
    const free = declared.filter((name) => !Object.hasOwn(value, name))
    const [meant] = nearest(key, free)
    issues.push({
      path: [...path, key],
      keyword: 'additionalProperties',
      value: value[key],
      constraint: `one of the declared parameters: ${declared.join(', ') || 'none'}`,
      unknownKey: key,
      ...(meant !== undefined && { meantKey: meant }),
    })
  }
  const { minProperties, maxProperties } = schema
  if (typeof minProperties === 'number' && keys.length < minProperties)
    issues.push({ path, keyword: 'minProperties', value, constraint: `an object with at least ${minProperties} keys` })
  if (typeof maxProperties === 'number' && keys.length > maxProperties)
    issues.push({ path, keyword: 'maxProperties', value, constraint: `an object with at most ${maxProperties} keys` })
  if (schema['propertyNames'] !== undefined) for (const key of keys) node(schema['propertyNames'], key, [...path, key], context)
  if (isRecord(schema['dependentRequired']))
    for (const [key, needs] of Object.entries(schema['dependentRequired']))
      if (Object.hasOwn(value, key) && Array.isArray(needs))
        for (const need of needs)
          if (!Object.hasOwn(value, need))
            issues.push({ path: [...path, need], keyword: 'required', value: undefined, constraint: `given, because ${key} is` })
}

function combined(schema: JsonSchema, value: unknown, path: Path, context: Context): void {
  const { allOf, anyOf, oneOf, not } = schema
  if (Array.isArray(allOf)) for (const part of allOf) node(part, value, path, context)
  if (Array.isArray(anyOf)) closest(anyOf, value, path, context)
  if (Array.isArray(oneOf)) {
    const matching = oneOf.filter((part) => passes(part, value, context)).length
    if (matching === 0) closest(oneOf, value, path, context)
    else if (matching > 1) context.issues.push({ path, keyword: 'oneOf', value, constraint: 'of exactly one of the allowed shapes' })
  }
  if (not !== undefined && passes(not, value, context))
    context.issues.push({ path, keyword: 'not', value, constraint: 'not of the excluded shape' })
  if (schema['if'] !== undefined) node(passes(schema['if'], value, context) ? schema['then'] : schema['else'], value, path, context)
}

/** Of several shapes none of which fits, the issues of the one that fits best; where all differ in type, the types together. */
function closest(parts: readonly unknown[], value: unknown, path: Path, context: Context): void {
  let best: Issue[] | undefined
  for (const part of parts) {
    const issues: Issue[] = []
    node(part, value, path, { ...context, issues })
    if (issues.length === 0) return
    if (best === undefined || weight(issues, path) < weight(best, path)) best = issues
  }
  if (best === undefined) return
  if (weight(best, path) >= WRONG_TYPE)
    context.issues.push({ path, keyword: 'type', value, constraint: parts.map((part) => describe(part, context.root)).join(' or ') })
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
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].map(show).join(', ')}`
  const parts = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(parts)) return parts.map((part) => describe(part, root, inner)).join(' or ')
  const types = typesOf(schema)
  if (types.length === 0) return 'a value'
  return types.map(article).join(' or ')
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}
const article = (type: string): string => ARTICLES[type] ?? type
const show = (value: unknown): string => JSON.stringify(value) ?? 'undefined'
const length = (text: string): number => [...text].length
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const compiled = new Map<string, RegExp | undefined>()
function regex(pattern: string): RegExp | undefined {
  if (!compiled.has(pattern)) {
    let made: RegExp | undefined
    try {
      made = new RegExp(pattern, 'u')
    } catch {
      try {
        made = new RegExp(pattern)
      } catch {
        made = undefined
      }
    }
    if (compiled.size > 1000) compiled.clear()
    compiled.set(pattern, made)
  }
  return compiled.get(pattern)
}
