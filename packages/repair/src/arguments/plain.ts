/** Recognises arguments that need no repair, as most do, without the cost of looking for repairs. */
import type { JsonSchema } from '../schema/types.ts'
import { isRecord, listOf } from '../schema/validate.ts'

const ANNOTATIONS = ['type', 'title', 'description', 'default', 'examples', 'format', 'deprecated', '$schema', '$comment']
/** The keywords that are understood here. */
const OF_OBJECT = new Set([...ANNOTATIONS, 'properties', 'required', 'additionalProperties', '$defs'])
const OF_VALUE = new Set([...ANNOTATIONS, 'enum', 'minimum', 'maximum', 'minLength', 'maxLength'])

/**
 * Returns true if the input is certain to fit the schema and to need no repair: an object of declared parameters that are strings, numbers
 * or booleans. False means that it is not known.
 */
export function isPlain(schema: JsonSchema, input: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required } = schema
  return (
    type === 'object' &&
    isRecord(properties) &&
    hasOnly(schema, OF_OBJECT) &&
    listOf(required).every((key) => Object.hasOwn(input, key as string)) &&
    Object.keys(input).every((key) => Object.hasOwn(properties, key) && isPlainValue(properties[key], input[key]))
  )
}

function isPlainValue(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema) || !hasOnly(schema, OF_VALUE)) return false
  const { type, enum: values } = schema
  if (values !== undefined && !listOf(values).includes(value)) return false
  // A comparison with an absent bound is false.
  const { minimum, maximum, minLength, maxLength } = schema as Readonly<Record<string, number>>
  if (typeof value === 'number') {
    const isOfType = type === 'number' ? Number.isFinite(value) : type === 'integer' && Number.isInteger(value)
    return isOfType && !(value < (minimum as number)) && !(value > (maximum as number))
  }
  if (typeof value !== 'string') return typeof value === 'boolean' && type === 'boolean'
  // A character has one or two units.
  const isOfLength = !(value.length < 2 * Math.ceil(minLength as number) - 1) && !(value.length > (maxLength as number))
  return type === 'string' && isOfLength && !mayHaveToken(value)
}

/** A token that a model quotes with may stand at either end, within a quotation mark. */
const mayHaveToken = (text: string): boolean => text.lastIndexOf('<', 1) !== -1 || text.indexOf('>', text.length - 2) !== -1

const hasOnly = (schema: JsonSchema, keywords: ReadonlySet<string>): boolean => Object.keys(schema).every((key) => keywords.has(key))
