/** Schemas whose check would never end: they come with a tool, which somebody else may have written. */
import { describe, expect, it } from 'vitest'
import { coerce } from '../arguments/coerce.ts'
import type { JsonSchema } from './types.ts'
import { validate } from './validate.ts'

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
/** The last of them refers to the one before twice, and so on. */
const doubling = (keyword: string, count = 30): JsonSchema => ({
  $defs: {
    a0: { type: 'number' },
    ...Object.fromEntries(numbers(count).map((at) => [`a${at + 1}`, { [keyword]: [ref(`a${at}`), ref(`a${at}`)] }])),
  },
  properties: { a: ref(`a${count}`) },
})
const nested = (keyword: string, levels: number): JsonSchema =>
  numbers(levels).reduce<JsonSchema>((inner) => ({ [keyword]: [inner, { type: 'null' }] }), { type: 'number' })
/** Each refers to all others without going deeper into the value. */
const MESH: JsonSchema = {
  $defs: Object.fromEntries(numbers(12).map((at) => [`m${at}`, { allOf: numbers(12).map((to) => ref(`m${to}`)) }])),
  properties: { a: ref('m0') },
}

describe('a check that would never end fails', () => {
  it.each<[string, JsonSchema]>([
    ['allOf that doubles', doubling('allOf')],
    ['oneOf that doubles', doubling('oneOf')],
    ['oneOf in oneOf', { properties: { a: nested('oneOf', 30) } }],
    ['all to all', MESH],
  ])('%s', (_, schema) => expect(validate(schema, { a: 'x' })).toMatchObject([{ keyword: 'visits' }]))

  it('ends when no visits are left', () => {
    const check = (left: number) => validate(doubling('allOf', 10), { a: 1 }, undefined, { left }).map((one) => one.keyword)
    expect([check(1000), check(10_000)]).toEqual([['visits'], []])
  })
})

describe('a check that ends', () => {
  it.each<[string, JsonSchema, unknown]>([
    [
      'of a union of many',
      { properties: { a: { oneOf: numbers(2000).map((at) => ({ properties: { kind: { const: at } }, required: ['kind'] })) } } },
      { a: { kind: 1999 } },
    ],
    [
      'of many fields of the same type',
      { $defs: { a: nested('anyOf', 20) }, properties: Object.fromEntries(numbers(500).map((at) => [`f${at}`, ref('a')])) },
      Object.fromEntries(numbers(500).map((at) => [`f${at}`, 1])),
    ],
    [
      'of a large value',
      { properties: { rows: { type: 'array', items: { properties: { id: { type: 'integer' } } } } } },
      { rows: numbers(100_000).map((id) => ({ id })) },
    ],
  ])('%s fits', (_, schema, value) => expect(validate(schema, value)).toEqual([]))
})

describe('a value whose levels multiply', () => {
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
    expect(validate(schema, deep(60))).toMatchObject([{ keyword: 'visits' }])
    expect(coerce(schema, deep(60), { lenient: true }).repairs).toEqual([])
    // One that is less deep is checked as before.
    expect(validate(both(keyword, {}), deep(5)).map((one) => one.keyword)).toEqual(keyword === 'oneOf' ? ['oneOf'] : [])
  })

  it('whatever a `not` around it says', () => {
    expect(validate({ not: both('allOf', {}), ...{ $defs: both('allOf', {})['$defs'] } }, deep(60))).toMatchObject([{ keyword: 'visits' }])
  })
})

describe('a pattern', () => {
  const check = (pattern: string, text: string) => validate({ type: 'string', pattern }, text).map(({ keyword }) => keyword)

  it.each<[string, string]>([
    ['^(a|a)*$', `${'a'.repeat(500)}b`],
    ['^(a|ab|b)*$', `${'a'.repeat(500)}c`],
    ['^(ab|abab)*$', `${'ab'.repeat(500)}c`],
    ['^(\\w|\\d)+$', `${'1'.repeat(500)}-`],
    ['(a?){30}a{30}$', 'a'.repeat(29)],
    [`^${'a?'.repeat(40)}${'a'.repeat(40)}$`, 'a'.repeat(39)],
    ['((a{0,9}){0,9}){0,9}b', 'a'.repeat(2000)],
    ['a*a*a*a*a*a*b', 'a'.repeat(2000)],
  ])('%s is not checked where it would never end', (pattern, text) => expect(check(pattern, text)).toEqual([]))

  it.each<[string, string]>([
    ['^[a-z]+(-[a-z]+)*$', 'foo-bar-baz'],
    ['^(foo|far|[0-9])+$', 'foofar1'],
    ['^P(\\d+Y)?(\\d+M)?(\\d+D)?(T(\\d+H)?(\\d+M)?(\\d+S)?)?$', 'P1Y2M'],
    ['^(\\d{1,3}\\.){3}\\d{1,3}$', '127.0.0.1'],
    ['^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[\\da-z-]+(\\.[\\da-z-]+)*)?(\\+[\\da-z-]+(\\.[\\da-z-]+)*)?$', '1.2.3-rc.1+x'],
    ['^[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+$', 'ana@example.com'],
    ['^(/[\\w.-]+)+/?$', '/a/b.txt'],
    ['^#?([a-f0-9]{6}|[a-f0-9]{3})$', '#a1b2c3'],
  ])('%s is checked', (pattern, text) => expect([check(pattern, text), check(pattern, '!')]).toEqual([[], ['pattern']]))
})
