import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { apertus } from './apertus.ts'
import { bare } from './bare.ts'
import { cohere } from './cohere.ts'
import { commandR } from './command-r.ts'
import { deepseek } from './deepseek.ts'
import { functionaryV3 } from './functionary-v3.ts'
import { functools } from './functools.ts'
import { gemma } from './gemma.ts'
import { gigachat } from './gigachat.ts'
import { granite } from './granite.ts'
import { harmony } from './harmony.ts'
import { hermes } from './hermes.ts'
import { hyperclova } from './hyperclova.ts'
import { internlm2 } from './internlm2.ts'
import { k2Horizon } from './k2-horizon.ts'
import { kimi } from './kimi.ts'
import { kimiK3 } from './kimi-k3.ts'
import { lfm2 } from './lfm2.ts'
import { llamaFunction } from './llama-function.ts'
import { llama3 } from './llama3.ts'
import { llama4 } from './llama4.ts'
import { longcat } from './longcat.ts'
import { minimaxM3 } from './minimax-m3.ts'
import { mistral } from './mistral.ts'
import { nemotron } from './nemotron.ts'
import { olmo } from './olmo.ts'
import { pangu } from './pangu.ts'
import { plamo } from './plamo.ts'
import { pythonicTags } from './pythonic-tags.ts'
import { blocksIn, sourceFor } from './read.fixture.ts'
import { rwkv } from './rwkv.ts'
import { solar } from './solar.ts'
import { solarOpen2 } from './solar-open2.ts'
import { step3 } from './step3.ts'
import { toolCalls } from './tool-calls.ts'
import { toolCode } from './tool-code.ts'

const FAMILIES: readonly Family[] = [
  ...[apertus, cohere, commandR, deepseek, functionaryV3, functools, gemma, gigachat, granite, harmony, hermes, internlm2, kimi, lfm2],
  ...[llama3, llama4, llamaFunction, bare, longcat, mistral, nemotron, olmo, pangu, solar, toolCalls, toolCode],
  ...[hyperclova, k2Horizon, kimiK3, minimaxM3, plamo, pythonicTags, rwkv, solarOpen2, step3],
]

/** What may follow an opener without end. */
const TAILS = ['{"', '{"name":"quote","arguments":{', 'quote(', '[quote(a=[']

/** What were not linear would run out of time. */
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
