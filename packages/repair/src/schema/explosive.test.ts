/** Schemas that would hang a check, and large ones that don't. */
import { describe, expect, it } from 'vitest'
import { coerce } from '../arguments/coerce.ts'
import { refuseExplosive } from './explosive.ts'
import type { JsonSchema } from './types.ts'
import { validate } from './validate.ts'

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
/** `a30` refers to `a29` twice, and so on. */
const doubling = (keyword: string): JsonSchema => ({
  $defs: {
    a0: { type: 'number' },
    ...Object.fromEntries(numbers(30).map((at) => [`a${at + 1}`, { [keyword]: [ref(`a${at}`), ref(`a${at}`)] }])),
  },
  properties: { a: ref('a30') },
})
const nested = (keyword: string, levels: number): JsonSchema =>
  numbers(levels).reduce<JsonSchema>((inner) => ({ [keyword]: [inner, { type: 'null' }] }), { type: 'number' })
/** Each refers to all others without going deeper into the value. */
const MESH: JsonSchema = {
  $defs: Object.fromEntries(numbers(12).map((at) => [`m${at}`, { allOf: numbers(12).map((to) => ref(`m${to}`)) }])),
  properties: { a: ref('m0') },
}

describe('refused', () => {
  it.each<[string, JsonSchema]>([
    ['allOf that doubles', doubling('allOf')],
    ['anyOf that doubles', doubling('anyOf')],
    ['oneOf in oneOf', { properties: { a: nested('oneOf', 30) } }],
    ['all to all', MESH],
    ['a pattern', { properties: { a: { type: 'string', pattern: '(a+)+$' } } }],
    ['a pattern of keys', { patternProperties: { '(x+x+)+y': {} } }],
  ])('%s', (_, schema) => expect(() => refuseExplosive(schema)).toThrow(/multiply|for ever/))
})

describe('not refused', () => {
  it.each<[string, JsonSchema]>([
    [
      'a union of many',
      { properties: { a: { oneOf: numbers(2000).map((at) => ({ properties: { kind: { const: at } }, required: ['kind'] })) } } },
    ],
    [
      'many fields of the same type',
      { $defs: { a: nested('anyOf', 20) }, properties: Object.fromEntries(numbers(500).map((at) => [`f${at}`, ref('a')])) },
    ],
    [
      'a tree',
      {
        $defs: { tree: { properties: { left: ref('tree'), right: ref('tree'), value: { anyOf: [{ type: 'string' }, ref('tree')] } } } },
        ...ref('tree'),
      },
    ],
    ['itself', { $ref: '#' }],
    ['a field called like a keyword', { properties: { allOf: { type: 'array' }, $ref: { type: 'string' }, pattern: { type: 'string' } } }],
  ])('%s', (_, schema) => expect(() => refuseExplosive(schema)).not.toThrow())
})

describe('a value whose levels multiply', { timeout: 60_000 }, () => {
  const both = (keyword: string, step: object): JsonSchema => ({
    $defs: {
      a: {
        [keyword]: [
          { properties: { a: ref('a') }, ...step },
          { properties: { a: ref('a') }, ...step },
        ],
      },
    },
    ...ref('a'),
  })
  const deep = (levels: number): object => numbers(levels).reduce<object>((a) => ({ a }), {})

  it.each(['allOf', 'anyOf', 'oneOf'])('of %s does not fit, and is not repaired', (keyword) => {
    const schema = both(keyword, { required: ['none'] })
    expect(() => refuseExplosive(schema)).not.toThrow()
    expect(validate(schema, deep(60))).toMatchObject([{ keyword: 'visits' }])
    expect(coerce(schema, deep(60), { lenient: true }).repairs).toEqual([])
    // One that is less deep is checked as before.
    expect(validate(both(keyword, {}), deep(5)).map((one) => one.keyword)).toEqual(keyword === 'oneOf' ? ['oneOf'] : [])
  })

  it('whatever a `not` around it says', () => {
    expect(validate({ not: both('allOf', {}), ...{ $defs: both('allOf', {})['$defs'] } }, deep(60))).toMatchObject([{ keyword: 'visits' }])
  })
})
