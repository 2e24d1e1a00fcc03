import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexNames } from '../name.ts'
import { isPlainCall, resolveCall } from '../resolve-call.ts'
import type { JsonSchema } from '../schema/types.ts'
import { validate } from '../schema/validate.ts'
import { coerce } from './coerce.ts'
import { isPlain } from './plain.ts'

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})
const SEARCH = object(
  {
    query: { type: 'string', description: 'What to look for.', minLength: 1, maxLength: 5 },
    limit: { type: 'integer', minimum: 1, maximum: 50 },
    ratio: { type: 'number' },
    deep: { type: 'boolean' },
    order: { type: 'string', enum: ['name', 'date'] },
    tags: { type: 'array', items: { type: 'string' } },
    id: { type: 'string', pattern: '^a' },
  },
  { required: ['query'], additionalProperties: false },
)

describe('isPlain', () => {
  it.each<[string, Record<string, unknown>]>([
    ['what is required alone', { query: 'x' }],
    ['every kind of value', { query: 'abcde', limit: 50, ratio: 0.5, deep: false, order: 'date' }],
  ])('is true for %s', (_, input) => expect(isPlain(SEARCH, input)).toBe(true))

  it.each<[string, Record<string, unknown>]>([
    ['a missing parameter', { limit: 1 }],
    ['an unknown parameter', { query: 'x', more: 1 }],
    ['a parameter of every object', { query: 'x', toString: 'x' }],
    ['another type', { query: 'x', limit: '5' }],
    ['a fraction where a whole number belongs', { query: 'x', limit: 1.5 }],
    ['null', { query: 'x', deep: null }],
    ['a number outside its bounds', { query: 'x', limit: 51 }],
    ['an empty text', { query: '' }],
    ['a text that is too long', { query: 'abcdef' }],
    ['a value that is not in the list', { query: 'x', order: 'Name' }],
    ['a token that a model quotes with', { query: '<|"|>' }],
    ['a list', { query: 'x', tags: ['a'] }],
    ['a keyword that is not understood here', { query: 'x', id: 'abc' }],
  ])('is false for %s', (_, input) => expect(isPlain(SEARCH, input)).toBe(false))

  it('counts characters, not their UTF-16 units', () => {
    const schema = object({ text: { type: 'string', minLength: 2.5 } })
    expect([isPlain(schema, { text: '😀😀' }), isPlain(schema, { text: '😀😀😀' })]).toEqual([false, true])
  })

  it('is false for a number that JSON does not have', () => {
    const schema = object({ ratio: { type: 'number' } })
    expect([NaN, Infinity].map((ratio) => isPlain(schema, { ratio }))).toEqual([false, false])
  })

  it.each<[string, JsonSchema]>([
    ['a union', object({ query: { type: 'string' } }, { anyOf: [{ required: ['id'] }] })],
    ['a reference', object({ query: { $ref: '#/$defs/query' } }, { $defs: { query: { type: 'integer' } } })],
    ['a type with another name', object({ query: { type: 'str' } })],
    ['several types', object({ query: { type: ['string', 'null'] } })],
    ['no properties', { type: 'object' }],
  ])('is false where the schema has %s', (_, schema) => expect(isPlain(schema, { query: 'x' })).toBe(false))
})

const bound = fc.option(fc.constantFrom<unknown>(-1, 0, 1, 2, 2.5, '1'), { nil: undefined })
const property = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'str', 'null'),
      minimum: bound,
      maximum: bound,
      minLength: bound,
      maxLength: bound,
    }),
  },
  fc.record({ type: fc.constantFrom('string', 'integer'), enum: fc.array(fc.constantFrom<unknown>('a', 'B', 1, null), { minLength: 1 }) }),
  fc.constantFrom<unknown>(
    true,
    false,
    {},
    { type: 'array' },
    { type: 'string', pattern: 'b' },
    { anyOf: [{ type: 'integer' }] },
    { const: 1 },
  ),
)
const name = fc.constantFrom('a', 'b', 'fileName', 'arguments', '__proto__')
const schemas = fc
  .tuple(
    fc.dictionary(name, property, { noNullPrototype: true }),
    fc.subarray(['a', 'b', 'fileName']),
    fc.constantFrom<unknown>(undefined, true, false),
  )
  .map(([properties, required, additionalProperties]) => object(properties, { required, additionalProperties }))
const values = fc.oneof(
  fc.constantFrom<unknown>(
    'a',
    'b',
    '',
    'abc',
    '😀',
    '5',
    '[1]',
    '{"a":1}',
    '<|"|>a',
    'a<|"|>"',
    '"<escape>',
    'a<b',
    1,
    0,
    -1,
    2.5,
    1500,
    true,
    null,
    ['a'],
    { a: 1 },
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.double(),
)
const inputs = fc.dictionary(fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('file_name', 'zzz')), values, {
  noNullPrototype: true,
  maxKeys: 3,
})

it('whatever the schema and the input: what is plain fits, and is not repaired', () => {
  let plain = 0
  fc.assert(
    fc.property(schemas, inputs, fc.boolean(), (schema, input, lenient) => {
      if (!isPlain(schema, input)) return
      plain++
      expect(validate(schema, input)).toEqual([])
      expect(coerce(schema, input, { lenient, parameterAliases: { a: ['zzz'] }, ignoredParameters: ['b'], toolName: 'look' })).toEqual({
        value: input,
        repairs: [],
      })
    }),
    { numRuns: 5000 },
  )
  expect(plain).toBeGreaterThan(200)
})

it('whatever the call: one that is plain is resolved as it is', () => {
  const parameters = object({ path: { type: 'string' }, limit: { type: 'integer' } }, { required: ['path'] })
  const index = indexNames([
    { name: 'look', effect: 'read' as const, aliases: ['cat'], parameters },
    { name: 'send', parameters },
  ])
  const raw = fc.oneof(
    fc.constantFrom(
      '{"path":"a"}',
      '{"path":"a","limit":5}',
      '{"path":"a","path":"b"}',
      '{"path":"a"',
      '{"path":5}',
      '"{}"',
      '',
      '[]',
      'null',
    ),
    fc
      .record({ path: fc.string(), limit: fc.oneof(fc.integer(), fc.string()) }, { requiredKeys: [] })
      .map((input) => JSON.stringify(input)),
  )
  let plain = 0
  fc.assert(
    fc.property(fc.constantFrom('look', 'send', 'cat', 'Look', 'toString', ''), raw, (name, input) => {
      if (!isPlainCall(name, input, index)) return
      plain++
      expect(resolveCall({ name, input }, index)).toEqual({
        kind: 'checked',
        tool: index.exact.get(name)?.tool,
        input: JSON.parse(input) as unknown,
        repairs: [],
        checked: { ok: true },
      })
    }),
    { numRuns: 1000 },
  )
  expect(plain).toBeGreaterThan(50)
})
