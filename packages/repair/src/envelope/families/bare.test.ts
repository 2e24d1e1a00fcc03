import { describe, expect, it } from 'vitest'
import { parseToolCalls } from '../../parse-tool-calls.ts'
import type { Effect } from '../../repair.ts'
import { createReply } from '../../reply.ts'
import { families } from '../registry.ts'
import { ROWS } from '../rows.fixture.ts'

const toolsOf = (effect: Effect) => [
  { name: 'forecast', effect, parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  { name: 'clock', effect, parameters: { type: 'object', properties: {} } },
]
const NOTATIONS = [
  'forecast(city="Lisbon")',
  '[forecast(city="Lisbon")]',
  '["forecast(city=\'Lisbon\')"]',
  '{"name": "forecast", "arguments": {"city": "Lisbon"}}',
  "[{'name': 'forecast', 'parameters': {'city': 'Lisbon'}}]",
  '{"tool_calls": [{"name": "forecast", "arguments": {"city": "Lisbon"}}]}',
  'forecast {"city": "Lisbon"}',
]
const run = (text: string, effect: Effect = 'read') => parseToolCalls(text, toolsOf(effect)).calls.length

/** `X` stands for the call. */
const SHOWN = [
  'For example:\n\n```python\nX\n```\n',
  'A call looks like this:\n\n```json\nX\n```\n\nThe server takes it off again.',
  '# Weather\n\nThe tool answers with the weather of a city.\n\n```\nX\n```\n\n## Errors\n\nNone.',
  'You can call it with `X` from any script.',
  '1. Open the console.\n2. Type `X`.\n3. Read the answer.',
  'The log of last night:\n\n    12:01 X\n    12:02 ok\n',
  '> X\n\nThat is what was asked before.',
  'The user wrote "X" and left.',
  'User: X\nAssistant: It rains.',
  'import weather\n\ndef main():\n    print(X)\n',
  'const answer = X\nconsole.log(answer)',
  'result = X',
  'X is how the weather is asked for.',
  'X, which takes a city, answers with text.',
  '<example>\nX\n</example>\nAn example.',
  '<!-- X -->\nNothing is shown here.',
  'I will not call X, because nobody asked.',
  '````\n```json\nX\n```\n````\n',
  '{"log": ["X"], "level": "info"}',
  '| call | result |\n|---|---|\n| X | rain |',
]

describe('what only shows a call', () => {
  it.each(SHOWN)('%j', (text) => {
    for (const call of NOTATIONS) for (const effect of ['read', 'write'] as const) expect(run(text.replace('X', call), effect)).toBe(0)
  })

  it.each([
    '{"name": "clock", "description": "The time.", "parameters": {"type": "object", "properties": {}}}',
    '[{"type": "function", "function": {"name": "clock", "description": "The time.", "parameters": {}}}]',
    '<tools>{"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}</tools>',
    '```json\n{"name": "clock", "parameters": {"type": "object", "properties": {}}}\n```',
  ])('a definition of a tool: %s', (text) => expect(run(text)).toBe(0))

  it.each([
    'nobody(city="Lisbon")',
    'forecast(city="Lisbon"); nobody(city="Lisbon")',
    '[forecast(city="Lisbon"), nobody()]',
    'forecast(city=f"{name}")',
    'forecast(city=names[0])',
    'forecast("Lisbon")',
    'forecast',
    '"forecast"',
    '{"name": "forecast"}',
    '{"name": "forecast", "arguments": {"city": clock()}}',
    'forecast(city=clock())',
    '{"forecast": {"city": "Lisbon"}}',
    '["forecast", {"city": "Lisbon"}]',
  ])('what names no call, or more than is known: %s', (text) => expect(run(text)).toBe(0))
})

/** Canonical calls of families without markup. */
const PLAIN = /: (?:alone|two calls|after text|after reasoning|args|on a line of its own|after a line)$/

describe('with an effect', () => {
  it.each(ROWS.filter(({ id, family }) => family === 'bare' && !PLAIN.test(id)))('$id is not run on a guess, and not silent', ({
    raw,
    tools,
  }) => {
    const { calls, refused, quoted } = parseToolCalls(
      raw,
      tools.map((tool) => ({ ...tool, effect: 'write' })),
    )
    expect(calls).toEqual([])
    expect(refused.length + quoted.filter(({ open }) => open).length).toBeGreaterThan(0)
  })

  it('what servers leave out is run as before', () => {
    expect(run('{"name": "forecast", "arguments": {"city": "Lisbon"}}', 'write')).toBe(1)
    expect(run('[forecast(city="Lisbon"), clock()]<|im_end|>', 'write')).toBe(2)
  })
})

describe('several calls with words between', () => {
  const two = (between: string): string => `[forecast(city="Lisbon")]\n${between}\n[clock()]`
  it.each<readonly [string, number]>([
    ['Now the time.', 2],
    ['The forecast is on its way, and beside it you will certainly want to know what time it is there.', 0],
  ])('%s: all are read, or none', (between, count) => {
    expect(run(two(between))).toBe(count)
    expect(run(two(between), 'write')).toBe(0)
  })

  it('none is dropped without a word', () => {
    const reply = createReply(toolsOf('write'), { families })
    reply.text(two('Now the time.'))
    const { calls, quoted, unclear } = reply.end()
    expect({ calls, quoted: quoted.length, unclear }).toEqual({ calls: [], quoted: 2, unclear: true })
  })
})

describe('a call that stands like one, and was hardly meant', () => {
  const ask = (text: string): readonly (string | boolean)[] => {
    const { calls, quoted } = parseToolCalls(text, toolsOf('read'))
    return [String(calls.length), ...quoted.flatMap(({ why, open }) => [why, open])]
  }
  it.each([
    ['[\'forecast(city="unknown")\']', 'with a value that only stands for one'],
    ["[{'name': 'forecast', 'parameters': {'city': ''}}]", 'with a value that only stands for one'],
    ['There is no specific function for it, but this one is near:\n\n[forecast(city="Lisbon")]', 'after words that it does not fit'],
  ])('%s', (text, why) => expect(ask(text)).toEqual(['0', why, true]))

  it('the same call again and again', () => {
    const call = '<tool_call>{"name": "forecast", "arguments": {"city": "Lisbon"}}</tool_call>\n'
    expect(ask(call.repeat(3))).toEqual(['0', ...Array.from({ length: 3 }, () => ['the same call again and again', true]).flat()])
    expect(ask(call + call)).toEqual(['2'])
  })

  it('JSON in a fence of source code', () => {
    const call = '{"name": "forecast", "arguments": {"city": "Lisbon"}}'
    expect(run(`\`\`\`python\n${call}\n\`\`\``)).toBe(0)
    expect(run(`\`\`\`json\n${call}\n\`\`\``)).toBe(1)
  })
})
