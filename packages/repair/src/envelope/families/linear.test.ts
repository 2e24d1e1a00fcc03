import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import {
  apertus,
  bare,
  cohere,
  commandR,
  deepseek,
  functionaryV3,
  functools,
  gemma,
  gigachat,
  granite,
  harmony,
  hermes,
  hyperclova,
  internlm2,
  k2Horizon,
  kimi,
  kimiK3,
  lfm2,
  llama3,
  llama4,
  llamaFunction,
  longcat,
  minimaxM3,
  mistral,
  nemotron,
  olmo,
  pangu,
  plamo,
  pythonicTags,
  rwkv,
  solar,
  solarOpen2,
  step3,
  toolCalls,
  toolCode,
} from './index.ts'
import { blocksIn, sourceFor } from './read.fixture.ts'

const FAMILIES: readonly Family[] = [
  ...[apertus, cohere, commandR, deepseek, functionaryV3, functools, gemma, gigachat, granite, harmony, hermes, internlm2, kimi, lfm2],
  ...[llama3, llama4, llamaFunction, bare, longcat, mistral, nemotron, olmo, pangu, solar, toolCalls, toolCode],
  ...[hyperclova, k2Horizon, kimiK3, minimaxM3, plamo, pythonicTags, rwkv, solarOpen2, step3],
]

/** Text that may follow an unclosed opener. */
const TAILS = ['{"', '{"name":"quote","arguments":{', 'quote(', '[quote(a=[']

/** Anything that is not linear would time out. */
const readAll = (family: Family, unit: string, size: number): unknown =>
  blocksIn(family, sourceFor(unit.repeat(Math.ceil(size / unit.length))))

describe('a text of nothing but openers is read to its end', () => {
  it.each(FAMILIES)('$id', { timeout: 60_000 }, (family) => {
    const [opener = ''] = family.openers
    for (const tail of TAILS) expect(readAll(family, opener + tail, 200_000), tail).toBeDefined()
  })

  it.each<readonly [Family, string]>([
    [mistral, '[TOOL_CALLS]a{'],
    [mistral, '[TOOL_CALLS]a{"b":"\\'],
    [bare, '{"name":"quote","arguments":{'],
    [bare, '[{"name":"quote","arguments":{}},'],
    [bare, '{"arguments":{"'],
    [bare, '[quote('],
    [bare, "[quote(a='''"],
    [bare, '[quote(a=1, '],
    [bare, '[quote(a="\\'],
    [bare, "\n{'name': 'quote', 'arguments': {'a': 1}},"],
    [bare, "\n[{'name': 'quote', 'arguments': {'a': 1}},"],
    [bare, '\nquote(a=1), other(b=2)'],
    [bare, '\n["quote(a=1)", '],
    [bare, "\n['quote(a=\\'"],
    [bare, '\n[quote(a=[{'],
    [bare, '\nquote {"a": '],
    [bare, '\n[quote{a:<|"|>'],
    [bare, '\n[quote\\_'],
    [bare, '```json\n[quote(a=1)]\n```\n'],
    [bare, '\n{"tool_calls": ['],
    [bare, '\n{"name": "quote", "arguments": {}}</tool_call>'],
    [bare, '\n{"name": "quote", "arguments": {}}<tool'],
    [bare, '<|im_start|>{"name": "quote", '],
    [pythonicTags, '<tool_call>quote(a: b '],
    [pythonicTags, '<tool_call>quote {"a": '],
    [hermes, '<tool_call>{"arguments": {\'a\': 1}, "b": '],
    [hermes, '<tool_call>{"name":"a","arguments":{"b":["c"</tool_call>'],
    [gemma, '<|tool_call>call:f{a:<|"|>'],
    [gemma, '<|tool_call>call:f{a:[<tool_call|>'],
    [gemma, '<|tool_call>call:f{a:{a:'],
    [kimi, '<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{"a":'],
    [deepseek, '<|tool_call_begin|>a<|tool_sep|>{"a":"'],
    [harmony, '<|channel|>commentary to=functions.quote json<|message|>{"a":"'],
    [harmony, ' to=functions.quote {"'],
    [hermes, '<tool_call>{"name":"a","arguments":{"b":"c"</tool_call>'],
    [hermes, '<tool_call>{"name":"a","arguments":{"b":""c"}}</tool_call>'],
    [hermes, '<tool_call>[{"name":"a"}'],
    [hermes, '<tool_call>[{"a":\n{'],
    [llamaFunction, '<function=a>{"'],
  ])('$0.id: $1', { timeout: 60_000 }, (family, unit) => expect(readAll(family, unit, 1_000_000)).toBeDefined())

  it.each([
    ["\n{'name': 'quote', 'arguments': {'a': 1}},", '\nnobody('],
    ['\nquote(a=1)', '\nnobody('],
    ["\n[{'name': 'quote', 'arguments': {'a': 1}}]", '\nnobody('],
    ['\n"quote(a=1)",', '\n{"nobody": '],
  ])('a row of %j that ends in %j', { timeout: 60_000 }, (unit, end) => {
    const text = unit.repeat(400_000 / unit.length) + end
    expect(blocksIn(bare, sourceFor(text))).toEqual([])
  })

  it('a row of calls whose last one has no name: it is not read again from its every call', { timeout: 60_000 }, () => {
    const unit = '\n{"name":"quote","arguments":{'
    const text = `${unit.repeat(40_000)}\n{"name":\nThat is all.`
    expect(blocksIn(bare, sourceFor(text))).toEqual([])
  })
})

describe('whatever stands in the text', () => {
  const parts = fc.constantFrom(
    ...FAMILIES.flatMap((family) => family.openers),
    ...[
      '{',
      '}',
      '[',
      ']',
      '(',
      ')',
      '"',
      "'",
      ',',
      ':',
      '=',
      '\\',
      '\n',
      '```',
      'quote',
      'ports',
      'name',
      'arguments',
      'functions.',
      ' ',
      '1',
    ],
    ...[
      '{"name":"quote","arguments":{"symbol":"A"}}',
      '{"symbol":"A"}',
      'call:quote{',
      '<|"|>',
      '</tool_call>',
      '<tool_call|>',
      '</s>',
      '[ARGS]',
    ],
    ...[
      '<|message|>',
      '<|call|>',
      '<|tool_call_argument_begin|>',
      '<|tool_call_end|>',
      '<｜tool▁sep｜>',
      '<|tool_call:name|>',
      'to=functions.quote',
    ],
  )
  it.each(FAMILIES)('$id gives blocks that lie in it, and never throws', (family) => {
    fc.assert(
      fc.property(fc.constantFrom(...family.openers), fc.array(parts, { maxLength: 12 }), (opener, rest) => {
        const text = opener + rest.join('')
        const block = family.read(sourceFor(text), 0)
        if (!block) return
        expect(block.end).toBeGreaterThan(0)
        expect(block.end).toBeLessThanOrEqual(text.length)
        for (const call of block.calls) if (call.cutOff) expect(block.complete).toBe(false)
      }),
    )
  })
})
