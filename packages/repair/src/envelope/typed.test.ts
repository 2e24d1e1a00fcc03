import { describe, expect, it } from 'vitest'
import { typeTexts } from './typed.ts'

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
