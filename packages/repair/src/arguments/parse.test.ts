import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInput } from './parse.ts'

const fault = (raw: unknown, cutOff = false) => {
  const parsed = parseInput(raw, { cutOff, level: 'off' })
  if (parsed.ok) throw new Error('parsed')
  return parsed.fault
}
const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`

describe('parseInput', () => {
  it.each<[unknown, object]>([
    ['{"a": 1}', { a: 1 }],
    [' {"a": 1}\n', { a: 1 }],
    [{ a: 1 }, { a: 1 }],
    ['', {}],
    ['  ', {}],
    [undefined, {}],
    [null, {}],
    ['""', {}],
  ])('%j is %j', (raw, input) => expect(parseInput(raw)).toMatchObject({ ok: true, input }))

  it('an object that was encoded twice is noted', () => {
    expect(parseInput(JSON.stringify('{"a":1}'))).toMatchObject({ ok: true, input: { a: 1 }, repairs: [{ kind: 'json' }] })
  })

  it.each<[unknown, RegExp]>([
    ['[1]', /a list/],
    [[1], /a list/],
    ['7', /a number/],
    ['true', /a boolean/],
    ['null', /null/],
    ['"text"', /a string, not an object/],
    ['{a: 1}', /at character 1: .*You sent: \{⟦here⟧a: 1\}/],
    ['{"a": 1,}', /at character 8/],
    ["{'a': 1}", /at character 1/],
    ['{"a": 1} extra', /at character 9/],
    ['{"a": plan}', /at character 6: .*You sent: \{"a": ⟦here⟧plan\}/],
    [`{"a": "${'x'.repeat(3000)}", "b": [True]}`, /at character 3016: .*xxx", "b": \[⟦here⟧True\]\}$/],
  ])('%j is malformed, and told where', (raw, says) => {
    const error = fault(raw)
    expect(error).toMatchObject({ details: { constraint: expect.any(String) } })
    expect(error.error).toMatch(says)
  })

  it.each([['{"a": "x'], ['{"a": 1'], ['{'], ['{"a": [1, 2']])('%j was cut off, and told so', (raw) => {
    expect(fault(raw)).toMatchObject({ details: { cutOff: true, position: raw.length } })
  })

  it('what was cut off is refused even where it happens to parse', () => {
    expect(fault('{"a": 1}', true).details).toMatchObject({ cutOff: true })
    expect(fault({ a: 1 }, true).details).toMatchObject({ cutOff: true })
  })

  it.each([
    ['text', deep],
    ['an object', JSON.parse(deep)],
    ['text that was cut off', deep, true],
    ['an object that was cut off', JSON.parse(deep), true],
    ['a list', JSON.parse('['.repeat(10_000) + ']'.repeat(10_000))],
  ])('10,000 levels as %s are refused, not walked', (_, raw, cutOff = false) => {
    expect(fault(raw, cutOff)).toMatchObject({ details: { constraint: expect.any(String) } })
  })

  it('shows the model little of a long text, around the place', () => {
    const error = fault(`{"a": "${'x'.repeat(5000)}", b}`)
    expect(error.error).toContain('⟦here⟧b}')
    expect(error.error.length).toBeLessThan(400)
  })

  it('answers any text, and keeps __proto__ a key', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), fc.boolean(), (raw, cutOff) => void parseInput(raw, { cutOff, level: 'off' })))
    const parsed = parseInput('{"__proto__": {"polluted": 1}}')
    expect(parsed.ok && Object.keys(parsed.input)).toEqual(['__proto__'])
  })
})
