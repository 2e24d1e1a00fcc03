import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/types.ts'
import { validate } from '../schema/validate.ts'
import { type CoerceOptions, coerce } from './coerce.ts'

const STRICT: CoerceOptions = { lenient: false }
const LENIENT: CoerceOptions = { lenient: true }
const object = (properties: Record<string, unknown>, required: string[] = [], more = {}): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  ...more,
})
const text = { type: 'string' }
const whole = { type: 'integer' }
const list = { type: 'array', items: text }

type Case = [what: string, schema: JsonSchema, from: unknown, to: unknown, options?: CoerceOptions]

/** Inputs that are repaired, and the results. */
const REPAIRED: Case[] = [
  ['a number as text', object({ n: { type: 'number' } }), { n: ' 1.5e3 ' }, { n: 1500 }],
  ['a whole number as text', object({ n: whole }), { n: '-7' }, { n: -7 }],
  ['a boolean as text', object({ b: { type: 'boolean' } }), { b: 'True' }, { b: true }],
  ['null as text', object({ b: { type: 'null' } }, ['b']), { b: 'null' }, { b: null }],
  ['a list as text', object({ l: list }), { l: '["a","b"]' }, { l: ['a', 'b'] }],
  ['an object as text', object({ o: object({ n: whole }) }), { o: '{"n":"5"}' }, { o: { n: 5 } }],
  ['a number where text belongs', object({ s: text }), { s: 42 }, { s: '42' }],
  ['one value where a list belongs', object({ l: list }), { l: 'a' }, { l: ['a'] }],
  ['one object where a list belongs', object({ l: { type: 'array', items: object({ n: whole }) } }), { l: { n: 1 } }, { l: [{ n: 1 }] }],
  ['items', object({ l: { type: 'array', items: whole } }), { l: ['1', 2] }, { l: [1, 2] }],
  ['items by place', object({ l: { type: 'array', prefixItems: [whole, text] } }), { l: ['1', '1'] }, { l: [1, '1'] }],
  ['null for an optional parameter', object({ s: text, t: text }), { s: null, t: 'x' }, { t: 'x' }],
  ['a name in another case', object({ file_path: text }), { filePath: 'a' }, { file_path: 'a' }],
  ['a union, where nothing fits', object({ n: { anyOf: [whole, { type: 'null' }] } }, ['n']), { n: '5' }, { n: 5 }],
  ['a union of shapes beside properties', { ...object({ n: whole }), anyOf: [{ required: ['n'] }] }, { n: '5' }, { n: 5 }],
  [
    'behind two references',
    { $defs: { a: { $ref: '#/$defs/b' }, b: whole }, ...object({ n: { $ref: '#/$defs/a' } }) },
    { n: '5' },
    { n: 5 },
  ],
  ['a declared alias', object({ path: text }), { file: 'a' }, { path: 'a' }, { lenient: false, parameterAliases: { path: ['file'] } }],
  [
    'a declared alias inside a list',
    object({ edits: { type: 'array', items: object({ old_text: text }) } }),
    { edits: [{ old_str: 'a' }, { old_text: 'b' }] },
    { edits: [{ old_text: 'a' }, { old_text: 'b' }] },
    { lenient: false, parameterAliases: { 'edits[].old_text': ['old_str'] } },
  ],
  ['an enum in another case, of a read', object({ s: { enum: ['name'], type: 'string' } }), { s: 'NAME' }, { s: 'name' }, LENIENT],
  ['an unknown parameter, of a read', object({ s: text }), { s: 'a', t: 1 }, { s: 'a' }, LENIENT],
  ['the lone unknown for the lone missing, of a read', object({ s: text }, ['s']), { q: 'a' }, { s: 'a' }, LENIENT],
]

const either = { type: ['array', 'string'] }
REPAIRED.push(
  ['a number as text, for a float', object({ n: { type: 'float' } }), { n: '1.5' }, { n: 1.5 }],
  ['a list as text, for a list', object({ l: { type: 'list', items: { type: 'str' } } }), { l: '["a"]' }, { l: ['a'] }],
  ['an object as text, for a dict', { type: 'dict', properties: { o: { type: 'DICT' } } }, { o: '{"n":5}' }, { o: { n: 5 } }],
  ['a list as text in a union, of a read', object({ l: either }), { l: '["a"]' }, { l: ['a'] }, LENIENT],
  ['the same in one word', object({ l: { type: 'array|string' } }), { l: '["a"]' }, { l: ['a'] }, LENIENT],
  ['the same in branches', object({ l: { anyOf: [text, list] } }), { l: '["a"]' }, { l: ['a'] }, LENIENT],
  ['a quoted enum, of a read', object({ s: { enum: ['name'] } }), { s: "'name'" }, { s: 'name' }, LENIENT],
  ['a token of quoting, of a read', object({ s: text }), { s: '<|"|>a<|"|>' }, { s: 'a' }, LENIENT],
)

/** Inputs that are left unchanged, either for the validator to refuse or because they fit. */
const LEFT: Case[] = [
  ['a list as text in a union, of an effect', object({ l: { type: ['array', 'string'] } }), { l: '["a"]' }, undefined],
  ['a list of others as text in a union', object({ l: { anyOf: [text, { ...list, items: whole }] } }), { l: '["a"]' }, undefined, LENIENT],
  ['text in brackets in a union', object({ l: { type: 'array|string' } }), { l: '[a' }, undefined, LENIENT],
  ['quotes, where text belongs', object({ s: text }), { s: "'abc'" }, undefined, LENIENT],
  ['a token of quoting inside a text', object({ s: text }), { s: 'Gemma writes <|"|> around it' }, undefined, LENIENT],
  ['text that looks like JSON, where text belongs', object({ s: text }), { s: '{"a":[1]}' }, undefined],
  ['text that looks like a number, where text belongs', object({ s: text }), { s: '007' }, undefined],
  ['text that fits one branch of a union', object({ s: { anyOf: [whole, text] } }), { s: '5' }, undefined],
  ['a fraction where a whole number belongs', object({ n: whole }), { n: '1.5' }, undefined],
  ['a number that would lose digits', object({ n: whole }), { n: '9007199254740993' }, undefined],
  ['no number at all', object({ n: whole }), { n: '0x10' }, undefined],
  ['Infinity', object({ n: { type: 'number' } }), { n: '1e999' }, undefined],
  ['yes for true', object({ b: { type: 'boolean' } }), { b: 'yes' }, undefined],
  ['a broken list as text', object({ l: list }), { l: '["a"' }, undefined],
  ['null for a required parameter', object({ s: text }, ['s']), { s: null }, undefined],
  ['null where null is allowed', object({ s: { type: ['string', 'null'] } }), { s: null }, undefined],
  [
    'an alias beside the parameter itself',
    object({ path: text }),
    { file: 'a', path: 'b' },
    undefined,
    { ...STRICT, parameterAliases: { path: ['file'] } },
  ],
  [
    'two aliases at once',
    object({ path: text }),
    { file: 'a', f: 'b' },
    undefined,
    { ...STRICT, parameterAliases: { path: ['file', 'f'] } },
  ],
  [
    'an alias of another level',
    object({ edits: list }),
    { old_str: 'a' },
    undefined,
    { ...STRICT, parameterAliases: { 'edits[].old_text': ['old_str'] } },
  ],
  ['an enum in another case, of an effect', object({ s: { enum: ['name'], type: 'string' } }), { s: 'NAME' }, undefined],
  ['an enum that two values fold to', object({ s: { enum: ['ab', 'a_b'], type: 'string' } }), { s: 'A-B' }, undefined, LENIENT],
  ['an unknown parameter of an effect', object({ s: text }), { s: 'a', t: 1 }, undefined],
  ['the lone unknown of an effect', object({ s: text }, ['s']), { q: 'a' }, undefined],
  ['a lone unknown of another type', object({ s: text }, ['s']), { q: { a: 1 } }, undefined, LENIENT],
  ['a lone unknown for something that nothing is known of', { type: 'object', required: ['s'] }, { q: 1 }, undefined, LENIENT],
]

describe('coerce', () => {
  it.each(REPAIRED)('%s', (_, schema, from, to, options = STRICT) => {
    const { value, repairs } = coerce(schema, from, options)
    expect(value).toEqual(to)
    expect(repairs.length).toBeGreaterThan(0)
    expect(validate(schema, value)).toEqual([])
  })

  it.each(LEFT)('leaves %s', (_, schema, from, __, options = STRICT) => {
    const { value, repairs } = coerce(schema, from, options)
    expect(value).toBe(from)
    expect(repairs).toEqual([])
  })

  it('notes the parameter, what it was and what it is', () => {
    const { repairs } = coerce(object({ l: { type: 'array', items: object({ n: whole }) } }), { l: [{ n: '5' }] }, STRICT)
    expect(repairs).toMatchObject([{ kind: 'type', parameter: 'l[0].n', from: '5', to: 5 }])
  })

  it('never changes what it was given', () => {
    const given = { l: ['1'], drop: null, x: 1 }
    coerce(object({ l: { type: 'array', items: whole }, drop: text }), given, LENIENT)
    expect(given).toEqual({ l: ['1'], drop: null, x: 1 })
  })
})

const leaf = fc.constantFrom<JsonSchema>(
  text,
  whole,
  { type: 'number' },
  { type: 'boolean' },
  list,
  { type: 'array', items: whole },
  { type: ['integer', 'null'] },
  { type: 'string', enum: ['a', 'B_c'] },
  { anyOf: [whole, text] },
  { anyOf: [whole, { type: 'null' }] },
  object({ a: whole }),
)
const schemas = fc
  .dictionary(fc.constantFrom('a', 'b', 'fileName', 'c'), leaf, { noNullPrototype: true })
  .chain((properties) => fc.subarray(Object.keys(properties)).map((required) => object(properties, required)))
const member = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    1,
    1.5,
    '1',
    'true',
    'null',
    '[1]',
    '["a"]',
    '{"a":"1"}',
    'a',
    'b-C',
    [],
    ['1'],
    [1],
    {},
    { a: '1' },
    { a: 1 },
  ),
  fc.jsonValue(),
)
const inputs = fc.dictionary(fc.constantFrom('a', 'b', 'fileName', 'file_name', 'c', 'zzz', '__proto__'), member, { noNullPrototype: true })

describe('whatever the schema and the value', () => {
  it.each([STRICT, LENIENT])('a value that fits is never changed (%j)', (options) => {
    let fitting = 0
    fc.assert(
      fc.property(schemas, inputs, (schema, input) => {
        if (validate(schema, input).length > 0) return
        fitting++
        const { value, repairs } = coerce(schema, input, options)
        expect(value).toBe(input)
        expect(repairs).toEqual([])
      }),
      { numRuns: 3000 },
    )
    expect(fitting).toBeGreaterThan(50)
  })

  it('what was repaired is noted, parameter by parameter; what was not is the same', () => {
    fc.assert(
      fc.property(schemas, inputs, fc.constantFrom(STRICT, LENIENT), (schema, input, options) => {
        const { value, repairs } = coerce(schema, input, options)
        expect(repairs.length === 0).toBe(value === input)
        const noted = new Set(repairs.map(({ parameter = '' }) => parameter.split(/[.[]/)[0]))
        for (const [key, member] of Object.entries(value as object)) if (!noted.has(key)) expect(member).toBe(input[key])
      }),
      { numRuns: 2000 },
    )
  })

  it('a text stays the text it is, where text belongs', () => {
    const jsonLike = fc.oneof(fc.json(), fc.string(), fc.constantFrom('null', 'true', '[1]', ' {"a": 1} ', '5'))
    fc.assert(
      fc.property(jsonLike, fc.constantFrom(STRICT, LENIENT), (s, options) => {
        expect(coerce(object({ s: text }, ['s']), { s }, options)).toEqual({ value: { s }, repairs: [] })
      }),
    )
  })
})

describe('hostile input', () => {
  it('__proto__ is a key like any other, and pollutes nothing', () => {
    const given = JSON.parse('{"__proto__": {"polluted": true}, "N": "5"}')
    const { value } = coerce(object({ n: whole }), given, LENIENT)
    expect(value).toEqual({ n: 5 })
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect({}).not.toHaveProperty('polluted')
  })

  it.each([
    ['nested 10,000 deep', { l: JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)) }],
    ['a text with a list 10,000 deep in it', { l: '['.repeat(10_000) + ']'.repeat(10_000) }],
    ['a text with an object 10,000 deep in it', { l: `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}` }],
  ])('%s', (_, input) => {
    const tree = { $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } }, ...object({ l: { $ref: '#/$defs/t' } }) }
    expect(() => coerce(tree, input, LENIENT)).not.toThrow()
  })

  it.each([
    ['['.repeat(10_000) + ']'.repeat(10_000)],
    [`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ])('a text with 10,000 levels in it stays a text', (deep) =>
    expect(coerce(object({ l: { type: ['array', 'object'] } }), { l: deep }, LENIENT).value).toEqual({ l: deep }))

  /** Counts steps rather than seconds: reading each member of the input a few times is linear. */
  const reads = (size: number, schema: JsonSchema, make: (size: number) => Record<string, unknown>): number => {
    let count = 0
    const input = make(size)
    const counted = new Proxy(input, {
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target)
        count += keys.length
        return keys
      },
      get: (target, key) => {
        count++
        return Reflect.get(target, key)
      },
    })
    coerce(schema, counted, LENIENT)
    return count
  }

  it('many unknown keys cost linear time', () => {
    const make = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, at]))
    expect(reads(4000, object({ a: text }), make) / reads(1000, object({ a: text }), make)).toBeLessThan(5)
  })

  it('a list of 200,000 and 50,000 unknown keys are done with', () => {
    const many = {
      l: Array.from({ length: 200_000 }, (_, at) => `${at}`),
      ...Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at])),
    }
    const { value } = coerce(object({ l: { type: 'array', items: whole } }), many, LENIENT)
    expect(Object.keys(value as object)).toEqual(['l'])
  })

  it('a long text that is almost a number is refused at once', () => {
    const almost = `${'1'.repeat(1_000_000)}x`
    expect(coerce(object({ n: whole }), { n: almost }, STRICT).value).toEqual({ n: almost })
  })
})
