import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RepairLevel } from '../repair.ts'
import type { JsonSchema } from '../schema/types.ts'
import { type RepairOptions, repairArguments } from './repair-arguments.ts'

const text = { type: 'string' }
const object = (properties: Record<string, unknown>, required: string[] = []): JsonSchema => ({ type: 'object', properties, required })
const SEARCH = object({ query: text, limit: { type: 'integer' }, tags: { type: 'array', items: text } }, ['query'])
const read = (raw: unknown, schema = SEARCH, options: RepairOptions = {}) => repairArguments(raw, schema, { effect: 'read', ...options })
const kinds = (raw: unknown, schema = SEARCH, options: RepairOptions = {}) => read(raw, schema, options).repairs.map(({ kind }) => kind)

describe('repairArguments', () => {
  it.each<[string, unknown, object, string[]]>([
    ['nothing wrong', '{"query":"x"}', { query: 'x' }, []],
    ['an object', { query: 'x' }, { query: 'x' }, []],
    ['broken JSON and a number as text', `{'query': 'x', limit: '5',}`, { query: 'x', limit: 5 }, ['json', 'type']],
    ['an escape that JSON lacks', String.raw`{"query": "\d+\.ts"}`, { query: String.raw`\d+\.ts` }, ['json']],
    ['a path of Windows', String.raw`{"query": "C:\Users\me"}`, { query: String.raw`C:\Users\me` }, ['json']],
    ['encoded twice', JSON.stringify('{"query":"x"}'), { query: 'x' }, ['json']],
    ['encoded twice, and broken inside', JSON.stringify("{'query': 'x'}"), { query: 'x' }, ['json', 'json']],
    ['an empty object before the full one', '{}{"query":"x"}', { query: 'x' }, ['split']],
    ['the same object twice', '{"query":"x"}\n{"query":"x"}', { query: 'x' }, ['split']],
    ['the whole call', '{"name":"search","arguments":{"query":"x"}}', { query: 'x' }, ['wrapped']],
    ['the whole call, its arguments as text', '{"name":"search","arguments":"{\\"query\\":\\"x\\"}"}', { query: 'x' }, ['wrapped']],
    ['wrapped twice', '{"input":{"arguments":{"query":"x"}}}', { query: 'x' }, ['wrapped', 'wrapped']],
    ['markup on a key', '{"query</arg_key>":"x"}', { query: 'x' }, ['parameter']],
    ['a list as text', '{"query":"x","tags":"[\\"a\\"]"}', { query: 'x', tags: ['a'] }, ['type']],
    ['text that looks like a list', '{"query":"[label]: x"}', { query: '[label]: x' }, []],
    ['text that looks like a number', '{"query":"5"}', { query: '5' }, []],
  ])('%s', (_, raw, value, notes) => {
    expect(read(raw, SEARCH, { name: 'search' })).toMatchObject({ ok: true, value })
    expect(kinds(raw, SEARCH, { name: 'search' })).toEqual(notes)
  })

  it.each<[string, unknown, RegExp]>([
    ['text that ends in the middle', '{"query":"x", "limit": 5', /truncated/],
    ['prose', 'I would search for x', /not valid JSON/],
    ['two different objects', '{"query":"a"}{"query":"b"}', /2 JSON objects/],
    ['a list', '["x"]', /a list, not an object/],
    ['an object where text belongs', { query: { a: 1 } }, /"query" must be a string/],
    ['a call of another tool', '{"name":"write","arguments":{"query":"x"}}', /"query" is missing/],
    ['markup that tears key and value', '{"query<arg_key":"x</arg_key><arg_value>5"}', /"query" is missing/],
    ['broken JSON that fits nothing even when repaired', '{queri: 7}', /not valid JSON/],
  ])('%s is refused, and the model told', (_, raw, says) => {
    const result = read(raw, SEARCH, { name: 'search' })
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(says), details: { constraint: expect.any(String) } })
  })

  it('what has parameters of the wrapper’s names is not unwrapped', () => {
    const schema = object({ name: text, arguments: { type: 'object' } }, ['name'])
    expect(read('{"name":"x","arguments":{"a":1}}', schema)).toMatchObject({
      ok: true,
      value: { name: 'x', arguments: { a: 1 } },
      repairs: [],
    })
    expect(read('{"input":{"a":1}}', { type: 'object' })).toMatchObject({ value: { input: { a: 1 } }, repairs: [] })
  })

  it.each<[string, RepairLevel, string, boolean]>([
    ['a trailing comma', 'full', '{"query":"x",}', true],
    ['a trailing comma', 'safe', '{"query":"x",}', true],
    ['a trailing comma', 'off', '{"query":"x",}', false],
    ['bare words', 'full', '{query: some words}', true],
    ['bare words', 'safe', '{query: some words}', false],
    ['unescaped quotes', 'full', '{"query": "<a id="b">c</a>"}', true],
    ['unescaped quotes', 'safe', '{"query": "<a id="b">c</a>"}', false],
    ['a number as text', 'safe', '{"query":"x","limit":"5"}', true],
    ['a number as text', 'off', '{"query":"x","limit":"5"}', false],
  ])('%s at level %s: %s → %s', (_, level, raw, ok) => expect(read(raw, SEARCH, { level }).ok).toBe(ok))

  it('without a word about the tool it is the most careful', () => {
    expect(repairArguments('{query: some words}', SEARCH).ok).toBe(false)
    expect(repairArguments('{"query":"x", "limit":"5"}', SEARCH).ok).toBe(true)
  })

  it('what was cut off is refused, though it parses', () => {
    expect(read('{"query":"x"}', SEARCH, { cutOff: true })).toMatchObject({ ok: false, error: expect.stringContaining('cut off') })
  })

  it.each<[string, object, number, number | 'refused']>([
    ['seconds in its name', { seconds: { type: 'number', maximum: 600 } }, 5000, 5],
    ['seconds in its description', { timeout: { type: 'integer', maximum: 600, description: 'How long, in seconds.' } }, 30_000, 30],
    ['no word of seconds', { timeout: { type: 'number', maximum: 600 } }, 5000, 'refused'],
    ['no maximum', { seconds: { type: 'number' } }, 5000, 5000],
    ['within the maximum', { seconds: { type: 'number', maximum: 600 } }, 500, 500],
    ['too much in either unit', { seconds: { type: 'number', maximum: 600 } }, 900_000, 'refused'],
    ['no round number', { seconds: { type: 'number', maximum: 600 } }, 5003, 'refused'],
  ])('milliseconds where there is %s', (_, properties, given, expected) => {
    const [key = ''] = Object.keys(properties)
    const result = read({ [key]: given }, object({ ...properties }))
    if (expected === 'refused') expect(result.ok).toBe(false)
    else expect(result).toMatchObject({ ok: true, value: { [key]: expected } })
  })

  it('declared aliases and another agent’s shape are taken', () => {
    expect(read({ q: 'x', n: 5 }, SEARCH, { parameterAliases: { query: ['q'] } })).toMatchObject({ ok: true, value: { query: 'x' } })
    const adapt = ({ term }: Record<string, unknown>) => ({ query: term })
    expect(read({ term: 'x' }, SEARCH, { adapt })).toMatchObject({ value: { query: 'x' }, repairs: [{ kind: 'adapted' }] })
  })

  it('never throws, and what it gives fits the schema', () => {
    const raw = fc.oneof(fc.string(), fc.json(), fc.jsonValue(), fc.stringMatching(/^[{}[\]",:a-z0-9\\ ]*$/))
    fc.assert(
      fc.property(raw, fc.constantFrom<RepairLevel>('off', 'safe', 'full'), (given, level) => {
        const result = repairArguments(given, SEARCH, { level })
        if (result.ok) expect(typeof result.value['query']).toBe('string')
        else expect(result.error.length).toBeGreaterThan(10)
      }),
      { numRuns: 500 },
    )
  })
})

it('a pattern that may take for ever is not asked', () => {
  const schema = object({ query: { type: 'string', pattern: '^(a+)+$' } })
  expect(read({ query: `${'a'.repeat(60)}!` }, schema).ok).toBe(true)
})

it('a value with a token of quoting left on it runs no effect, and is noted for a read', () => {
  const schema = { type: 'object', properties: { l: { type: 'array', items: { type: 'string' } } } }
  const given = { l: ['<|"|>a', 'b'] }
  expect(repairArguments(given, schema, { effect: 'read' })).toMatchObject({
    ok: true,
    value: { l: ['a', 'b'] },
    repairs: [{ parameter: 'l[0]' }],
  })
  for (const effect of ['write', 'external'] as const)
    expect(repairArguments(given, schema, { effect })).toMatchObject({ ok: false, error: expect.stringContaining('"l[0]" has a token') })
})
