/** One interface for every kind of tool schema: JSON Schema for the model, and a check with structured issues. */

import { type Issue, type JsonSchema, refuseExplosivePatterns, validateJson as validate } from '@mulligan/repair'
import { closeObjects } from './close.ts'

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type StandardResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] }

/** The part of Standard Schema (standardschema.dev) that is used here, with its JSON Schema extension. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** A Standard Schema, a Standard Schema with the JSON Schema beside it, or a raw JSON Schema. */
export type ToolSchema<Input = unknown> =
  | StandardSchema<Input>
  | { readonly schema: StandardSchema<Input>; readonly jsonSchema: JsonSchema }
  | JsonSchema

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  /** `thrown`: the schema's own rule threw, so nothing is known about the value. */
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly thrown?: unknown }

export interface SchemaCheck {
  /** As sent to the model. */
  readonly jsonSchema: JsonSchema
  /** As checked: objects of Standard Schemas are closed, because such schemas drop unknown keys without a word. */
  readonly strict: JsonSchema
  /** The value the tool gets (defaults and transforms applied), or what is wrong. A promise only where the schema is asynchronous. */
  readonly check: (value: unknown) => Checked | Promise<Checked>
}

const isStandard = (schema: object): schema is StandardSchema => '~standard' in schema

/**
 * The check of a schema.
 * @throws TypeError when it is not for an object, gives no JSON Schema, or has a pattern that may hang.
 */
export function checker(schema: ToolSchema): SchemaCheck {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) throw new TypeError('must be a schema')
  if (isStandard(schema)) return standard(schema, inputSchema(schema))
  if ('schema' in schema && 'jsonSchema' in schema) return standard(schema['schema'] as StandardSchema, schema['jsonSchema'] as JsonSchema)
  const json = objectSchema(schema as JsonSchema)
  return {
    jsonSchema: json,
    strict: json,
    check: (value) => {
      const issues = validate(json, value)
      return issues.length === 0 ? { ok: true, value } : { ok: false, issues }
    },
  }
}

function inputSchema(schema: StandardSchema): JsonSchema {
  const convert = schema['~standard'].jsonSchema
  if (!convert)
    throw new TypeError(
      `this version of ${schema['~standard'].vendor} gives no JSON Schema; pass { schema, jsonSchema } or a raw JSON Schema`,
    )
  const { $schema: _, ...json } = convert.input({ target: 'draft-2020-12' })
  return json
}

function standard(schema: StandardSchema, jsonSchema: JsonSchema): SchemaCheck {
  const json = objectSchema(jsonSchema)
  const strict = closeObjects(json)
  const settle = (result: StandardResult<unknown>): Checked =>
    result.issues ? { ok: false, issues: result.issues.map(fromStandard) } : { ok: true, value: result.value }
  return {
    jsonSchema: json,
    strict,
    check: (value) => {
      const issues = validate(strict, value)
      if (issues.length > 0) return { ok: false, issues }
      try {
        const result = schema['~standard'].validate(value)
        // Not `instanceof Promise`: another realm's promise would pass for a success without a value.
        return 'then' in result ? Promise.resolve(result).then(settle).catch(threw) : settle(result)
      } catch (error) {
        return threw(error)
      }
    },
  }
}

const threw = (thrown: unknown): Checked => ({ ok: false, issues: [], thrown })

function objectSchema(json: JsonSchema): JsonSchema {
  if (json['type'] !== 'object' && !('properties' in json) && !('anyOf' in json) && !('oneOf' in json) && !('$ref' in json))
    throw new TypeError('must be a schema of type "object"')
  refuseExplosivePatterns(json)
  return json['type'] === undefined ? { type: 'object', ...json } : json
}

function fromStandard(issue: StandardIssue): Issue {
  const path = (issue.path ?? []).map((step) => {
    const key = typeof step === 'object' ? step.key : step
    return typeof key === 'number' ? key : String(key)
  })
  return { path, keyword: 'refinement', value: undefined, constraint: String(issue.message) }
}
