/**
 * The keys of a configuration file, derived from its JSON Schema: their types, and the variables and flags that set them. Imports nothing
 * else.
 */

/** The subset of JSON Schema that our schema uses. */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  /** Flag of `mulligan run`. */
  readonly flag?: string
  /** Alternative name of the variable. */
  readonly variable?: string
}

export interface ConfigKey {
  /** Such as `limits.requests`; `NAME` is a placeholder for any name. */
  readonly key: string
  readonly path: readonly string[]
  readonly node: SchemaNode
  /** Whether the value is a string or a number rather than a list or an object. */
  readonly isScalar: boolean
  /** The variables that set it, in order of precedence; none if it is not a scalar. */
  readonly variables: readonly string[]
  /** Flag of `mulligan run`, if it has one. */
  readonly flag?: string
}

/** Placeholder in a key for any name. */
export const ANY_NAME = 'NAME'

/** Lists every key that takes a value, in the order of the schema. */
export function keysIn(root: SchemaNode): readonly ConfigKey[] {
  return keysBelow(root, [])
}

function keysBelow(node: SchemaNode, path: readonly string[]): readonly ConfigKey[] {
  const { properties, additionalProperties } = node
  const inner = Object.entries(properties ?? {}).flatMap(([name, one]) => keysBelow(one, [...path, name]))
  if (properties) return inner
  const named = typeof additionalProperties === 'object' ? keysBelow(additionalProperties, [...path, ANY_NAME]) : []
  return [keyAt(node, path), ...named.filter(({ path: { length } }) => length > path.length + 1)]
}

function keyAt(node: SchemaNode, path: readonly string[]): ConfigKey {
  const key = path.join('.')
  const isScalar = isScalarNode(node) && !key.startsWith('$') && !path.includes(ANY_NAME)
  const { flag, variable = [] } = node
  return { key, path, node, isScalar, variables: isScalar ? [variableOf(path)].concat(variable) : [], ...(flag !== undefined && { flag }) }
}

const isScalarNode = ({ type, anyOf }: SchemaNode): boolean =>
  anyOf?.every((one) => isScalarNode(one)) ?? !(type === 'array' || type === 'object')

/** `limits.requests` → `MULLIGAN_LIMITS_REQUESTS`, `baseUrl` → `MULLIGAN_BASE_URL`. */
export const variableOf = (path: readonly string[]): string =>
  `MULLIGAN_${path.map((name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_')).join('_')}`.toUpperCase()

/** Describes a type for the user: `whole number, at least 1`. */
export function typeText({
  type,
  enum: allowed,
  const: only,
  anyOf,
  items,
  properties,
  additionalProperties,
  ...range
}: SchemaNode): string {
  if (allowed) return allowed.join(', ')
  if (only !== undefined) return String(only)
  if (anyOf) return anyOf.map(typeText).join(' or ')
  if (items) return `list of ${items.type === 'string' ? 'texts' : typeText(items)}`
  if (properties) return `{ ${Object.keys(properties).join(', ')} }`
  if (additionalProperties) return 'object, by name'
  if (type === 'string') return 'text'
  if (type === 'boolean') return 'true or false'
  if (type !== 'integer' && type !== 'number') return 'any'
  return [type === 'integer' ? 'whole number' : 'number', ...rangeText(range)].join(', ')
}

function rangeText({ minimum, exclusiveMinimum, maximum }: SchemaNode): string[] {
  return [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
  ]
}

/** Whether a key is meant by a path: `agents.review.model` matches the key `agents.NAME.model`. */
export const isAbout = ({ path }: Pick<ConfigKey, 'path'>, asked: readonly string[]): boolean =>
  path.length === asked.length && path.every((name, at) => name === ANY_NAME || name === asked[at])

/** Parses a key as written: names with dots are in brackets, `models["ollama/x:1.5b"].context`. Returns undefined if it is not valid. */
export function parseKey(text: string): readonly string[] | undefined {
  const path: string[] = []
  for (let at = 0; at < text.length; ) {
    const part = /^(?:(\.?)([^.[\]"]+)|\[("(?:[^"\\]|\\.)*")\])/.exec(text.slice(at))
    if (!part) return undefined
    const [whole, dot, plain, quoted] = part
    if (plain !== undefined && (dot === '') !== (at === 0)) return undefined
    const name = plain ?? unquoted(quoted ?? '')
    if (name === undefined) return undefined
    path.push(name)
    at += whole.length
  }
  return path.length === 0 ? undefined : path
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

/** The reverse of {@link parseKey}. */
export const keyText = (path: readonly string[]): string =>
  path.map((name, at) => (/^[^.[\]"\s]+$/.test(name) ? `${at === 0 ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`)).join('')
