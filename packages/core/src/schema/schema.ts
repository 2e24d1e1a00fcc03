/** Gives every kind of tool schema one interface: JSON Schema for the model, and validation with structured issues. */

import { type Issue, isRecord, type JsonSchema, refuseExplosivePatterns, validateJson as validate } from '@mulligan/repair'

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type StandardResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] }

/** The part of Standard Schema (standardschema.dev) used here, with its JSON Schema extension. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/**
 * A Standard Schema, a Standard Schema accompanied by its JSON Schema, or a raw JSON Schema. With `decides`, whatever the Standard Schema
 * accepts is valid, unknown keys included; by default both must accept it, and unknown keys are invalid.
 */
export type ToolSchema<Input = unknown> =
  | StandardSchema<Input>
  | { readonly schema: StandardSchema<Input>; readonly jsonSchema: JsonSchema; readonly decides?: boolean }
  | JsonSchema

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  /** `thrown`: one of the schema's own rules threw, so nothing is known about the value. */
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly thrown?: unknown }

export interface SchemaCheck {
  /** The JSON Schema sent to the model. */
  readonly jsonSchema: JsonSchema
  /** The JSON Schema used for validation. Objects of Standard Schemas are closed, because such schemas silently drop unknown keys. */
  readonly strict: JsonSchema
  /**
   * Returns the value the tool gets (defaults and transforms applied), or the issues. Returns a promise only if the schema is
   * asynchronous.
   */
  readonly check: (value: unknown) => Checked | Promise<Checked>
}

const isStandard = (schema: object): schema is StandardSchema => '~standard' in schema

/**
 * Returns the validator for a schema.
 * @throws TypeError if the schema does not describe an object, provides no JSON Schema, or has a pattern that may hang
 */
export function checker(schema: ToolSchema): SchemaCheck {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) throw new TypeError('must be a schema')
  if (isStandard(schema)) return standard(schema, inputSchema(schema))
  if ('schema' in schema && 'jsonSchema' in schema)
    return standard(schema['schema'] as StandardSchema, schema['jsonSchema'] as JsonSchema, schema['decides'] === true)
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

function standard(schema: StandardSchema, jsonSchema: JsonSchema, decides = false): SchemaCheck {
  const json = objectSchema(jsonSchema)
  const closed = closeObjects(json)
  const settle = (result: StandardResult<unknown>, value: unknown): Checked => {
    if (!result.issues) return { ok: true, value: result.value }
    const issues = decides ? validate(closed, value) : []
    return { ok: false, issues: issues.length > 0 ? issues : result.issues.map(fromStandard) }
  }
  return {
    jsonSchema: json,
    strict: decides ? json : closed,
    check: (value) => {
      const issues = decides ? [] : validate(closed, value)
      if (issues.length > 0) return { ok: false, issues }
      try {
        const result = validated(schema, value)
        // Not `instanceof Promise`: a promise from another realm would be mistaken for a success without a value.
        return 'then' in result ? Promise.resolve(result).then((one) => settle(one, value), threw) : settle(result, value)
      } catch (error) {
        return threw(error)
      }
    },
  }
}

/**
 * Zod first tries whether a schema is synchronous, and abandons the promises of the rules that are not: they run twice, and one that
 * rejects ends the process. Its own asynchronous method does neither.
 */
async function zodResult(schema: ZodSchema, value: unknown): Promise<StandardResult<unknown>> {
  const { success, data, error } = await schema.safeParseAsync(value)
  return success ? { value: data } : { issues: error?.issues ?? [] }
}

interface ZodSchema {
  readonly safeParseAsync: (value: unknown) => Promise<{
    readonly success: boolean
    readonly data?: unknown
    readonly error?: { readonly issues: readonly StandardIssue[] } | undefined
  }>
}

const validated = (schema: StandardSchema, value: unknown): ReturnType<StandardSchema['~standard']['validate']> =>
  schema['~standard'].vendor === 'zod' && 'safeParseAsync' in schema
    ? zodResult(schema as unknown as ZodSchema, value)
    : schema['~standard'].validate(value)

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

const CHILD_MAPS = ['properties', '$defs', 'definitions', 'patternProperties']
const CHILDREN = ['anyOf', 'oneOf', 'prefixItems', 'items', 'additionalProperties', 'not']

/** Closes every object that lists its properties. Parts of an `allOf` stay open because they combine. */
function closeObjects(schema: JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema }
  for (const [key, child] of Object.entries(schema)) {
    if (CHILDREN.includes(key)) copy[key] = Array.isArray(child) ? child.map(close) : close(child)
    if (CHILD_MAPS.includes(key) && isRecord(child))
      copy[key] = Object.fromEntries(Object.entries(child).map(([name, inner]) => [name, close(inner)]))
  }
  if (isRecord(copy['properties']) && !('allOf' in copy) && !('patternProperties' in copy)) copy['additionalProperties'] ??= false
  return copy
}

const close = (child: unknown): unknown => (isRecord(child) ? closeObjects(child) : child)
