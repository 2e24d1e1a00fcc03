import { describe, expect, it } from 'vitest'
import { typeTexts } from './text-call.ts'

const typed = (text: string, schema: unknown): unknown =>
  typeTexts([{ key: 'a', text }], { type: 'object', properties: { a: schema } } as Parameters<typeof typeTexts>[1])['a']

describe('a value as Python writes it', () => {
  it.each<readonly [string, unknown]>([
    ["{'k': None, 'on': True}", { k: null, on: true }],
    ["[{'k': \"it's\"}, {\"k\": 'b'}]", [{ k: "it's" }, { k: 'b' }]],
    ['(1, 2)', [1, 2]],
    [`"{'k': 1}"`, { k: 1 }],
  ])('%s, where no text is taken', (text, value) => expect(typed(text, { type: ['object', 'array'] })).toEqual(value))

  it.each<readonly [string, unknown]>([
    ["{'k': 1}", { type: 'string' }],
    ["{'k': 1}", { anyOf: [{ type: 'string' }, { type: 'object' }] }],
    ["{'k': 1}", {}],
    ["{'k': f(1)}", { type: 'object' }],
    ["{'k': 1} and more", { type: 'object' }],
    ["{'k': 1", { type: 'object' }],
  ])('%s stays a text: %j', (text, schema) => expect(typed(text, schema)).toBe(text))
})

describe('a text and a list are both taken', () => {
  const either = { type: 'array|string' }
  it.each<readonly [string, unknown]>([
    ['["a", "b"]', ['a', 'b']],
    ['a', 'a'],
    ['["a"', '["a"'],
    ['{"a": 1}', '{"a": 1}'],
    ['5', '5'],
  ])('%s', (text, value) => expect(typed(text, either)).toEqual(value))
})

it.each<readonly [string, string, unknown]>([
  ['float', '1.5', 1.5],
  ['int', '5', 5],
  ['str', '5', '5'],
  ['dict', '{"a": 1}', { a: 1 }],
  ['list[str]', '["a"]', ['a']],
  ['BOOLEAN', 'true', true],
])('%s of %s', (type, text, value) => expect(typed(text, { type })).toEqual(value))
