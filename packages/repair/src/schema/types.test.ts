import { describe, expect, it } from 'vitest'
import { typesOf } from './types.ts'
import { isOfType, describe as phrase, validate } from './validate.ts'

describe('type names as people write them', () => {
  it.each<readonly [unknown, readonly string[]]>([
    ['string', ['string']],
    ['OBJECT', ['object']],
    ['String', ['string']],
    ['str', ['string']],
    ['float', ['number']],
    ['double', ['number']],
    ['int', ['integer']],
    ['uint32', ['integer']],
    ['bool', ['boolean']],
    ['dict', ['object']],
    ['HashMap<String, Integer>', ['object']],
    ['list', ['array']],
    ['tuple', ['array']],
    ['list[str]', ['array']],
    ['List[Dict[str, int]]', ['array']],
    ['string[]', ['array']],
    ['array of strings', ['array']],
    ['None', ['null']],
    ['array|string', ['array', 'string']],
    ['number or null', ['number', 'null']],
    ['Union[List[int], str]', ['array', 'string']],
    ['Optional[float]', ['number', 'null']],
    ['int?', ['integer', 'null']],
    ['str, optional', ['string']],
    [
      ['float', 'null'],
      ['number', 'null'],
    ],
    [
      ['string', null],
      ['string', 'null'],
    ],
    ['any', []],
    ['', []],
    ['a colour', []],
    ['any|string', []],
    [['string', 'thing'], []],
    [undefined, []],
    [5, []],
    ['constructor', []],
    ['x'.repeat(5000), []],
  ])('%j', (type, types) => expect(typesOf({ type })).toEqual(types))

  it('OpenAPI says nullable', () => expect(typesOf({ type: 'STRING', nullable: true })).toEqual(['string', 'null']))
})

describe('a schema with such names', () => {
  const schema = {
    type: 'dict',
    properties: { ratio: { type: 'float' }, count: { type: 'int' }, tags: { type: 'list[str]' }, what: { type: 'any' }, how: { type: '' } },
    required: ['ratio'],
  }
  it('lets a healthy call pass', () =>
    expect(validate(schema, { ratio: 1, count: 5, tags: ['a'], what: { a: [1] }, how: 'so' })).toEqual([]))

  it('still refuses what is wrong, in the words of JSON Schema', () => {
    expect(validate(schema, { ratio: 'x', count: 1.5, tags: 'a' }).map(({ constraint }) => constraint)).toEqual([
      'a number',
      'a whole number',
      'a list',
    ])
    expect(phrase({ type: 'int?' }, {})).toBe('a whole number or null')
    expect(isOfType({ type: 'float' }, '1')).toBe(false)
  })
})
