import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { deepseek, gemma, harmony, hermes, kimi, lfm2, mistral } from './index.ts'
import { blocksIn, sourceFor } from './read.fixture.ts'

/** Text at which a reader that only searches for its closer would stop. */
const MARKUP = [
  '</tool_call>',
  '<tool_call>',
  '[TOOL_CALLS]',
  '</s>',
  '<｜tool▁call▁end｜>',
  '<|tool_call_end|>',
  '<|call|>',
  '```',
  '"}}',
  '\n{',
  "'",
  '\\',
]
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.oneof(fc.constantFrom(...MARKUP), fc.string({ maxLength: 3 }))).map((parts) => parts.join('')),
)
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0 || 0),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const input = fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true })
const named = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), value, { maxKeys: 4, noNullPrototype: true })

type Write = (given: Readonly<Record<string, unknown>>) => string

const json = (given: unknown): string => JSON.stringify(given)
const python = (given: unknown): string =>
  Array.isArray(given)
    ? `[${given.map(python).join(', ')}]`
    : typeof given === 'object' && given !== null
      ? `{${Object.entries(given)
          .map(([key, one]) => `${quoted(key)}: ${python(one)}`)
          .join(', ')}}`
      : typeof given === 'string'
        ? quoted(given)
        : given === null
          ? 'None'
          : given === true
            ? 'True'
            : given === false
              ? 'False'
              : String(given)
const quoted = (given: string): string => {
  const quote = given.includes("'") ? '"' : "'"
  return quote + given.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n').replaceAll('\r', '\\r') + quote
}
const gemmaValue = (given: unknown): string =>
  Array.isArray(given)
    ? `[${given.map(gemmaValue).join(',')}]`
    : typeof given === 'object' && given !== null
      ? `{${Object.entries(given)
          .map(([key, one]) => `<|"|>${key}<|"|>:${gemmaValue(one)}`)
          .join(',')}}`
      : typeof given === 'string'
        ? `<|"|>${given}<|"|>`
        : String(given)

describe('any arguments come back as they were written', () => {
  it.each<readonly [Family, string, Write]>([
    [hermes, 'one', (given) => `<tool_call>\n{"name": "quote", "arguments": ${json(given)}}\n</tool_call>`],
    [hermes, 'one in lines', (given) => `<tool_call>${JSON.stringify({ name: 'quote', arguments: given }, null, 2)}</tool_call>`],
    [hermes, 'a list', (given) => `<tool_call>[${json({ name: 'quote', arguments: given })}]</tool_call>`],
    [mistral, 'list', (given) => `[TOOL_CALLS] [{"name": "quote", "arguments": ${json(given)}}]`],
    [mistral, 'name', (given) => `[TOOL_CALLS]quote${json(given)}`],
    [mistral, 'id', (given) => `[TOOL_CALLS]quote[CALL_ID]abc123def[ARGS]${json(given)}`],
    [
      deepseek,
      'V3',
      (given) =>
        `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>quote\n\`\`\`json\n${json(given)}\n\`\`\`<｜tool▁call▁end｜>`,
    ],
    [
      deepseek,
      'V3.1',
      (given) => `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>quote<｜tool▁sep｜>${json(given)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    ],
    [kimi, 'K2', (given) => `<|tool_call_begin|>functions.quote:0<|tool_call_argument_begin|>${json(given)}<|tool_call_end|>`],
    [harmony, 'gpt-oss', (given) => `<|channel|>commentary to=functions.quote <|constrain|>json<|message|>${json(given)}<|call|>`],
    [gemma, 'Gemma 4', (given) => `<|tool_call>call:quote${gemmaValue(given)}<tool_call|>`],
  ])('$0.id, %s', (family, _, write) => {
    fc.assert(fc.property(input, (given) => same(family, write(given), given)))
  })

  it('lfm2, Python', () => {
    const write: Write = (given) =>
      `<|tool_call_start|>[quote(${Object.entries(given)
        .map(([key, one]) => `${key}=${python(one)}`)
        .join(', ')})]<|tool_call_end|>`
    fc.assert(fc.property(named, (given) => same(lfm2, write(given), given)))
  })

  it.each<readonly [Family, string]>([
    [hermes, '<tool_call>{"name":"quote","arguments":{"symbol":"a </tool_call> b"}}</tool_call>'],
    [mistral, '[TOOL_CALLS]quote[ARGS]{"symbol":"[TOOL_CALLS]ports{}"}'],
    [kimi, '<|tool_calls_section_begin|><|tool_call_begin|>functions.quote:0<|tool_call_argument_begin|>{"a":[1]}<|tool_call_end|>'],
    [lfm2, '<|tool_call_start|>[quote(symbol="a)]", days=[1, {"a": None}])]<|tool_call_end|>'],
    [gemma, '<|tool_call>call:quote{symbol:<|"|>a<|"|>,days:[1,{a:true}]}<tool_call|>'],
  ])('%#: no beginning of it is a call that counts, unless all of its arguments are there', (family, whole) => {
    const [full] = blocksIn(family, sourceFor(whole))
    for (let at = 1; at < whole.length; at++)
      for (const { calls } of blocksIn(family, sourceFor(whole.slice(0, at))))
        for (const call of calls) if (!call.cutOff) expect(call).toEqual(full?.calls[0])
  })
})

function same(family: Family, written: string, given: unknown): void {
  const [block, ...more] = blocksIn(family, sourceFor(written))
  expect(more).toEqual([])
  expect(block).toMatchObject({ complete: true, end: written.length })
  expect(block?.calls.map((call) => [call.name, call.arguments])).toEqual([['quote', { kind: 'object', value: given }]])
}
