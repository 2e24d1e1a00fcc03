import Ajv from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import { coerce } from '../arguments/coerce.ts'
import type { JsonSchema } from './types.ts'
import { describe as phrase, validate } from './validate.ts'

const ajv = new Ajv.default({ strict: false, allErrors: false, validateFormats: false, logger: false })
const KEYS = ['a', 'b', 'c', 'ab']

const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, '', 'a', 'ab', 'B', 'é😀', 0, -1, 1, 2, 3, 6, 1.5),
  fc.integer({ min: -9, max: 9 }),
  fc.string({ maxLength: 3 }),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

const small = fc.integer({ min: 0, max: 3 })
const number = fc.integer({ min: -5, max: 5 })
const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null')
const PATTERNS = fc.constantFrom('^a', 'b$', '^.$', '[0-9]')

/** Every supported keyword, in any mixture. */
const { schema } = fc.letrec<{ schema: JsonSchema | boolean; some: readonly (JsonSchema | boolean)[] }>((tie) => ({
  some: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonSchema | boolean>(true, false, {}, { type: 'string' }, { $ref: '#/$defs/text' }, { $ref: '#/$defs/tree' }),
    fc.record({ type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })) }),
    fc.record({ const: value }),
    fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 4 }) }),
    fc.record({ minLength: small, maxLength: small, pattern: PATTERNS }, { requiredKeys: [] }),
    fc.record(
      { minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number, multipleOf: fc.constantFrom(1, 2, 3, 0.5) },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        items: tie('schema'),
        prefixItems: tie('some'),
        minItems: small,
        maxItems: small,
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { items: tie('schema'), contains: tie('schema'), minContains: fc.constantFrom(0, 1), maxItems: small },
      { requiredKeys: ['contains'] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom(...KEYS), tie('schema'), { maxKeys: 3, noNullPrototype: true }),
        patternProperties: fc.dictionary(PATTERNS, tie('schema'), { maxKeys: 1, noNullPrototype: true }),
        additionalProperties: tie('schema'),
        required: fc.uniqueArray(fc.constantFrom(...KEYS), { maxLength: 2 }),
        minProperties: small,
        maxProperties: small,
        propertyNames: tie('schema'),
        dependentRequired: fc.constantFrom({ a: ['b'] }, { b: ['a', 'c'] }),
      },
      { requiredKeys: [] },
    ),
    fc.record({ allOf: tie('some') }),
    fc.record({ anyOf: tie('some') }),
    fc.record({ oneOf: tie('some') }),
    fc.record({ not: tie('schema') }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    fc.record({ if: tie('schema'), then: tie('schema'), else: tie('schema') }, { requiredKeys: ['if'] }),
  ),
}))

/**
 * Puts `prefixItems` and its `items` in a branch of their own. ajv (8.20) skips the keywords that stand beside them if the list is
 * shorter than `prefixItems`; the specification does not.
 */
function forAjv(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forAjv)
  if (typeof schema !== 'object' || schema === null) return schema
  const { prefixItems, items, ...rest } = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, forAjv(part)]))
  if (prefixItems === undefined) return items === undefined ? rest : { ...rest, items }
  const list = items === undefined ? { prefixItems } : { prefixItems, items }
  return { allOf: [list, rest] }
}

const DEFS = {
  text: { type: 'string', minLength: 1 },
  tree: { type: 'object', properties: { a: { $ref: '#/$defs/tree' } }, additionalProperties: false },
}

describe('the verdict', () => {
  it('is that of ajv, for every supported keyword and mixture', () => {
    let valid = 0
    let invalid = 0
    fc.assert(
      fc.property(schema, value, (generated, given) => {
        const whole = { $defs: DEFS, allOf: [generated] }
        const theirs = ajv.compile({ $defs: DEFS, allOf: [forAjv(generated)] })(given)
        if (theirs) valid++
        else invalid++
        expect(validate(whole, given).length === 0).toBe(theirs)
      }),
      { numRuns: samples(800, 4000) },
    )
    // Comparing only refusals would prove little.
    expect(Math.min(valid, invalid)).toBeGreaterThan(200)
  })

  it('is that of ajv with two keywords side by side', () => {
    fc.assert(
      fc.property(schema, schema, value, (one, other, given) => {
        const merged = { $defs: DEFS, ...(typeof one === 'object' ? one : {}), ...(typeof other === 'object' ? other : {}) }
        expect(validate(merged, given).length === 0).toBe(ajv.compile({ $defs: DEFS, allOf: [forAjv(merged)] })(given))
      }),
      { numRuns: samples(400, 2000) },
    )
  })
})

describe('what is said of a fault', () => {
  it.each<[string, JsonSchema, unknown, object]>([
    ['type', { type: 'integer' }, '5', { path: [], constraint: 'a whole number', value: '5' }],
    ['types', { type: ['string', 'null'] }, 5, { constraint: 'a string or null' }],
    ['enum', { enum: ['name', 'size'] }, 'nmae', { constraint: 'one of "name", "size"', suggestion: 'name' }],
    ['enum without a near one', { enum: [1, 2] }, 7, { candidates: [1, 2] }],
    ['const', { const: 'x' }, 'y', { suggestion: 'x' }],
    ['minimum', { minimum: 1 }, 0, { constraint: 'at least 1', suggestion: 1 }],
    ['exclusiveMinimum of a whole number', { type: 'integer', exclusiveMinimum: 1 }, 0, { constraint: 'more than 1', suggestion: 2 }],
    ['multipleOf', { multipleOf: 5 }, 12, { suggestion: 10 }],
    ['minLength', { minLength: 1 }, '', { constraint: 'not empty' }],
    ['maxLength', { maxLength: 2 }, '😀😀😀', { constraint: 'at most 2 characters, not 3' }],
    ['maxItems', { maxItems: 1 }, [1, 2], { suggestion: [1] }],
    ['required', { properties: { a: { type: 'string' } }, required: ['a'] }, {}, { path: ['a'], constraint: 'a string' }],
    [
      'additionalProperties',
      { properties: { path: {} }, additionalProperties: false },
      { paht: 1 },
      { path: ['paht'], unknownKey: 'paht', meantKey: 'path' },
    ],
    ['a nested one', { properties: { a: { items: { type: 'string' } } } }, { a: ['x', 1] }, { path: ['a', 1] }],
    ['anyOf of types', { anyOf: [{ type: 'string' }, { type: 'array' }] }, 5, { constraint: 'a string or a list' }],
    [
      'anyOf of shapes: the nearest one',
      {
        anyOf: [
          { properties: { kind: { const: 'a' }, n: { type: 'number' } }, required: ['kind', 'n'] },
          { properties: { kind: { const: 'b' } }, required: ['kind'] },
        ],
      },
      { kind: 'a', n: 'x' },
      { path: ['n'], keyword: 'type' },
    ],
  ])('%s', (_, given, bad, issue) => expect(validate(given, bad)[0]).toMatchObject(issue))

  it('a suggested number passes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: -100, max: 100 }),
        fc.constantFrom('integer', 'number'),
        (keyword, limit, given, type) => {
          const [issue] = validate({ type, [keyword]: limit }, given)
          if (issue) expect(validate({ type, [keyword]: limit }, issue.suggestion)).toEqual([])
        },
      ),
    )
  })

  it.each([
    [{ $ref: '#/$defs/text' }, 'a string'],
    [{ enum: ['a', 1] }, 'one of "a", 1'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'a string or null'],
    [{}, 'a value'],
    [true, 'a value'],
  ])('%j reads "%s"', (given, words) => expect(phrase(given, { $defs: DEFS })).toBe(words))
})

describe('hostile schemas and values', () => {
  it.each<[string, JsonSchema, unknown]>([
    ['a reference to itself', { $ref: '#' }, 1],
    ['a circle of references', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, 1],
  ])('%s ends', (_, given, any) => expect(() => validate(given, any)).not.toThrow())

  it.each<[string, JsonSchema, unknown]>([
    ['a reference that names nothing', { $ref: '#/$defs/none' }, 1],
    ['a reference with a stray %', { properties: { a: { $ref: '#/$defs/100%' } } }, { a: 1 }],
    ['a remote reference', { $ref: 'https://example.com/s.json' }, 1],
    ['a pattern that is not a regex', { pattern: '(' }, 'x'],
    ['keywords that are unknown', { type: 'string', format: 'email', 'x-y': 1 }, 'x'],
  ])('%s is not checked', (_, given, fine) => expect(validate(given, fine)).toEqual([]))

  it('keys of Object.prototype are keys like others', () => {
    const closed = { type: 'object', properties: { a: {} }, additionalProperties: false }
    expect(validate(closed, JSON.parse('{"__proto__": 1}'))).toMatchObject([{ unknownKey: '__proto__' }])
    expect(validate({ required: ['constructor', 'toString'] }, {})).toHaveLength(2)
  })

  it('a value nested 10,000 deep costs no stack', () => {
    const tree = { $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } }, $ref: '#/$defs/t' }
    expect(validate(tree, JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)))).toMatchObject([{ keyword: 'depth' }])
  })

  it('50,000 items are distinguished at once', () => {
    const many = Array.from({ length: 50_000 }, (_, at) => ({ at }))
    expect(validate({ uniqueItems: true }, many)).toEqual([])
    expect(validate({ uniqueItems: true }, [...many, { at: 7 }])).toMatchObject([{ keyword: 'uniqueItems' }])
  })
})

describe('a reference that leads back to itself without going deeper', () => {
  const ring = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }
  const doubled = { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } }
  it.each<[string, JsonSchema]>([
    ['a ring', { $defs: ring, $ref: '#/$defs/a' }],
    ['by way of allOf', { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }],
    ['by way of anyOf', { $defs: doubled, $ref: '#/$defs/a' }],
    ['the whole', { allOf: [{ $ref: '#' }] }],
  ])('asks nothing: %s', (_, given) => expect(validate(given, { x: 1 })).toEqual([]))

  it('what is beside it is asked anyway, and so is every level of a tree', () => {
    const given = { $defs: { ...ring, b: { $ref: '#/$defs/a', type: 'string' } }, $ref: '#/$defs/a' }
    expect(validate(given, 5)).toMatchObject([{ keyword: 'type' }])
    const tree = { $defs: { t: { type: 'object', properties: { t: { $ref: '#/$defs/t' } } } }, $ref: '#/$defs/t' }
    expect(validate(tree, { t: { t: { t: 5 } } })).toMatchObject([{ path: ['t', 't', 't'] }])
  })

  it('can be put in words, and repaired', () => {
    expect(phrase({ $ref: '#/$defs/a' }, { $defs: ring })).toBe('a value')
    expect(phrase({ $ref: '#/$defs/a' }, { $defs: doubled })).toBe('a value or a value')
    const stuck = { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }, { type: 'string' }], not: {} }
    const root = { $defs: { a: stuck }, type: 'object', properties: { x: { $ref: '#/$defs/a' } } }
    expect(coerce(root, { x: 5 }, { lenient: true }).value).toMatchObject({ x: expect.anything() })
  })
})
