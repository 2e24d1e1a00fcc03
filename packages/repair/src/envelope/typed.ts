/** From keys with raw text to values: the schema decides what `1` is. */

import { parseJson } from '../arguments/brackets.ts'
import { tryJson } from '../arguments/try-json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { typesOf } from '../schema/types.ts'
import { deref, isRecord } from '../schema/validate.ts'
import type { TextEntry } from './family.ts'
import { type Cursor, readLiteral, WORDS } from './syntax/python.ts'

/** Where several values come for one key, the last one stands, as in JSON. */
export function typeTexts(entries: readonly TextEntry[], schema: JsonSchema | undefined): Record<string, unknown> {
  const properties = schema && isRecord(schema['properties']) ? schema['properties'] : {}
  const typed: [string, unknown][] = []
  for (const { key, text, as } of entries) {
    const child = Object.hasOwn(properties, key) ? properties[key] : undefined
    typed.push([key, as === 'text' ? text : as === 'json' ? fromLiteral(text) : valueFor(text, child, schema ?? {})])
  }
  return Object.fromEntries(typed)
}

/**
 * A text where the schema takes one: what looks like JSON stays a text, unless the schema takes such a list or object too,
 * which this markup has no other way to write. Else what it says as JSON or as a Python literal; a text that is neither
 * stays one, and whether it fits is for the coercion to see.
 */
function valueFor(text: string, schema: unknown, root: JsonSchema): unknown {
  const takes = allowedTypes(schema, root)
  if (takes.has('string')) {
    if (takes.has('null') && text.trim() === 'null') return null
    const json = takes.has('array') || takes.has('object') ? tryJson(text) : undefined
    return json !== undefined && takes.has(jsonType(json)) ? json : text
  }
  return takes.size > 0 ? fromLiteral(text) : fromJsonOrText(text)
}

function fromJson(text: string): unknown {
  const trimmed = text.trim()
  if (Object.hasOwn(WORDS, trimmed)) return WORDS[trimmed]
  return parseJson(trimmed) ?? text
}

/** JSON, or a list or an object as Python writes it, `{'a': None}`: also when it came as a text in JSON. */
function fromLiteral(text: string): unknown {
  const value = fromJson(text)
  if (typeof value !== 'string' || !/^\s*[[{(]/.test(value)) return value
  const cursor: Cursor = { text: value, at: 0, cut: false }
  const literal = readLiteral(cursor)
  return literal && value.slice(cursor.at).trim() === '' ? literal.value : value
}

/** Nothing is known of the parameter: a number that would lose digits stays a text. */
function fromJsonOrText(text: string): unknown {
  const value = fromJson(text)
  return typeof value === 'number' && String(value) !== text.trim() ? text : value
}

/** The types a schema takes, through references and unions; empty when it takes anything. */
function allowedTypes(schema: unknown, root: JsonSchema, open: readonly unknown[] = []): ReadonlySet<string> {
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

const jsonType = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
