/** Maps type names as people write them in schemas to those of JSON Schema: `float`, `OBJECT`, `list[str]`, `array|string`. */

/** Other names of each standard type, in lower case, from Python, Java, TypeScript, C, SQL and protocol buffers. */
const OTHER_NAMES: Readonly<Record<string, RegExp>> = {
  string: /^(?:str|text|char|varchar|uri|url|email|uuid|date|datetime|date-time|path|filepath)$/,
  number: /^(?:float|double|decimal|real|numeric|num)\d*$/,
  integer: /^(?:u?int|long|short|bigint|smallint|whole)\d*$/,
  boolean: /^bool$/,
  array: /^(?:(?:list|array)(?: of .*)?|tuple|set|sequence|iterable|arraylist|vector)$|\[\]$/,
  object: /^(?:dict|dictionary|map|mapping|hash|hashmap|record|obj|struct)$/,
  null: /^(?:none|nonetype|nil|void|undefined)$/,
}

/** A longer name is a sentence. In characters. */
const MAX_NAME = 200

/** Returns the types that a schema allows; empty if it names none or only types that cannot be checked. */
export function typesOf(schema: JsonSchema): readonly string[] {
  const { type, nullable } = schema
  const types = typeof type === 'string' ? typesNamed(type) : Array.isArray(type) ? unionOf(type.map(memberOf)) : []
  return nullable === true && types.length > 0 && !types.includes('null') ? [...types, 'null'] : types
}

const memberOf = (type: unknown): readonly string[] => (type === null ? ['null'] : typeof type === 'string' ? typesNamed(type) : [])

/** Merges the types of a union. If one part accepts anything, so does the union. */
const unionOf = (parts: readonly (readonly string[])[]): readonly string[] =>
  parts.some((part) => part.length === 0) ? [] : [...new Set(parts.flat())]

const typesNamed = (name: string): readonly string[] =>
  Object.hasOwn(OTHER_NAMES, name) ? [name] : name.length > MAX_NAME ? [] : read(name.trim().toLowerCase())

function read(name: string): readonly string[] {
  const [, wrapper, inner = ''] = /^(?:typing\.)?(optional|union)\s*[[<](.*)[\]>]$/.exec(name) ?? []
  if (wrapper === 'optional') return unionOf([read(inner), ['null']])
  if (name.endsWith('?')) return unionOf([read(name.slice(0, -1)), ['null']])
  // Item types are between brackets; `string[]` is a list.
  let text = wrapper ? inner : name
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replace(/\s*(?:\[[^[\]]+\]|<[^<>]*>|\([^()]*\))/g, '')
  }
  const parts = text.split(wrapper ? ',' : /\s*\|\s*|\s+or\s+|\s*\/\s*|,/).map((part) => part.trim().replace(/^typing\./, ''))
  return unionOf(parts.filter((part) => part !== 'optional' && part !== 'required').map(typeNamed))
}

function typeNamed(name: string): readonly string[] {
  const found = Object.keys(OTHER_NAMES).find((type) => type === name || OTHER_NAMES[type]?.test(name))
  return found === undefined ? [] : [found]
}

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Returns the JSON Schema type of a value; `integer` for whole numbers. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}
