import { isExplosive } from '@mulligan/repair'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as zod from 'zod/v4/core'
import { defineTool } from '../tool.ts'

const tool = (input: object) => defineTool({ name: 'x', description: 'x', input: input as never, execute: () => 1 })

describe('isExplosive', () => {
  it.each([
    '^(a+)+$',
    '^(\\w+\\s?)*$',
    '(a*)*',
    '((a+))+',
    '(?:a|b+)*',
    '(?<x>a+)+?',
    '(a+){2,}',
    '(a+){2,50}',
    '([a-z]{1,50})*',
    '((a-)+)+',
    '([)+]+)*x',
    '(\\Ba+)+',
    '(?=(a+)+)b',
    '(.*,)*',
  ])('%s is', (pattern) => expect(isExplosive(pattern)).toBe(true))

  it.each([
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^(\\/[\\w.-]+)+$',
    '^(\\w+\\s+)*\\w+$',
    '^(?:\\d{3})+$',
    '\\(a+\\)+',
    '[(a+)+]',
    '(?:x(?=a+))*',
    '([^,]*,)*',
    '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$',
    '(((',
    ')+',
    '[',
  ])('%s is not', (pattern) => expect(isExplosive(pattern)).toBe(false))

  it('none that zod brings along is', () => {
    const patterns = Object.values(zod.regexes).filter((one) => one instanceof RegExp)
    expect(patterns.length).toBeGreaterThan(30)
    expect(patterns.filter(({ source }) => isExplosive(source))).toEqual([])
  })
})

describe('a tool whose input has such a pattern is refused, with the name of the field', () => {
  it.each<[string, object, string]>([
    ['JSON Schema', { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }, '"a"'],
    ['a list in it', { type: 'object', properties: { a: { items: { properties: { b: { pattern: '(a+)+' } } } } } }, '"a[].b"'],
    ['names of keys', { type: 'object', patternProperties: { '(a+)+': {} } }, 'the input'],
    ['zod', z.object({ name: z.string().regex(/^(a+)+$/) }), '"name"'],
  ])('%s', (_, input, field) =>
    expect(() => tool(input)).toThrow(new RegExp(`^defineTool\\("x"\\): input: the pattern .* of ${field.replace('[]', '\\[\\]')} may`)))

  it('data that is not a pattern, and a parameter of that name, are fine', () => {
    tool({ type: 'object', properties: { pattern: { type: 'string', default: { pattern: '(a+)+' } } } })
  })
})
