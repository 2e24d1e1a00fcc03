/** Type names as people write them in a schema, in those of JSON Schema: `float`, `OBJECT`, `list[str]`, `array|string`. */
import type { JsonSchema } from './json-schema.ts'

const STANDARD = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** Other names of each type, from Python, Java, TypeScript, C, SQL and protocol buffers. In lower case. */
const OTHER_NAMES: Readonly<Record<string, RegExp>> = {
  string: /^(?:str|text|char|varchar|uri|url|email|uuid|date|datetime|date-time|path|filepath)$/,
  number: /^(?:float|double|decimal|real|numeric|num)\d*$/,
  integer: /^(?:u?int|long|short|bigint|smallint|whole)\d*$/,
  boolean: /^bool$/,
  array: /^(?:(?:list|array)(?: of .*)?|tuple|set|sequence|iterable|arraylist|vector)$|\[\]$/,
  object: /^(?:dict|dictionary|map|mapping|hash|hashmap|record|obj|struct)$/,
  null: /^(?:none|nonetype|nil|void|undefined)$/,
}

/** A longer name is a sentence. */
const MAX_NAME = 200

/** The types a schema allows; empty when it doesn't say, or says what nobody can check. */
export function typesOf(schema: JsonSchema): readonly string[] {
  const { type, nullable } = schema
  const types = typeof type === 'string' ? typesNamed(type) : Array.isArray(type) ? unionOf(type.map(memberOf)) : []
  return nullable === true && types.length > 0 && !types.includes('null') ? [...types, 'null'] : types
}

const memberOf = (type: unknown): readonly string[] => (type === null ? ['null'] : typeof type === 'string' ? typesNamed(type) : [])

/** A union with a part that takes anything takes anything. */
const unionOf = (parts: readonly (readonly string[])[]): readonly string[] =>
  parts.some((part) => part.length === 0) ? [] : [...new Set(parts.flat())]

const known = new Map<string, readonly string[]>([...STANDARD].map((name) => [name, [name]]))

function typesNamed(name: string): readonly string[] {
  const found = known.get(name)
  if (found) return found
  if (known.size > 1000) known.clear()
  const types = name.length > MAX_NAME ? [] : read(name.trim().toLowerCase())
  known.set(name, types)
  return types
}

function read(name: string): readonly string[] {
  const [, wrapper, inner = ''] = /^(?:typing\.)?(optional|union)\s*[[<](.*)[\]>]$/.exec(name) ?? []
  if (wrapper === 'optional') return unionOf([read(inner), ['null']])
  if (name.endsWith('?')) return unionOf([read(name.slice(0, -1)), ['null']])
  // What a list holds is between brackets; `string[]` is a list.
  let text = wrapper ? inner : name
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replace(/\s*(?:\[[^[\]]+\]|<[^<>]*>|\([^()]*\))/g, '')
  }
  const parts = text.split(wrapper ? ',' : /\s*\|\s*|\s+or\s+|\s*\/\s*|,/).map((part) => part.trim().replace(/^typing\./, ''))
  return unionOf(parts.filter((part) => part !== 'optional' && part !== 'required').map(typeNamed))
}

function typeNamed(name: string): readonly string[] {
  if (STANDARD.has(name)) return [name]
  const found = Object.keys(OTHER_NAMES).find((type) => OTHER_NAMES[type]?.test(name))
  return found === undefined ? [] : [found]
}
