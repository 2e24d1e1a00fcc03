import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { apertus } from './apertus.ts'
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
import { internlm2 } from './internlm2.ts'
import { kimi } from './kimi.ts'
import { lfm2 } from './lfm2.ts'
import { llamaFunction } from './llama-function.ts'
import { llamaJson } from './llama-json.ts'
import { llama3 } from './llama3.ts'
import { llama4 } from './llama4.ts'
import { longcat } from './longcat.ts'
import { mistral } from './mistral.ts'
import { nemotron } from './nemotron.ts'
import { olmo } from './olmo.ts'
import { pangu } from './pangu.ts'
import { pythonic } from './pythonic.ts'
import { blocksIn, sourceFor } from './read.fixture.ts'
import { solar } from './solar.ts'
import { toolCalls } from './tool-calls.ts'
import { toolCode } from './tool-code.ts'
import { xlam } from './xlam.ts'

const SIZE = 1_000_000
/** Far above what reading takes on a slow machine, far below what anything quadratic takes. */
const LIMIT = 4_000

const FAMILIES: readonly Family[] = [
  ...[apertus, cohere, commandR, deepseek, functionaryV3, functools, gemma, gigachat, granite, harmony, hermes, internlm2, kimi, lfm2],
  ...[llama3, llama4, llamaFunction, llamaJson, longcat, mistral, nemotron, olmo, pangu, pythonic, solar, toolCalls, toolCode, xlam],
]

/** What may follow an opener without end. */
const TAILS = [
  '',
  ' ',
  '{',
  '[',
  '{"',
  '{"name":"quote","arguments":{',
  '{"name":"quote","arguments":{"a":"',
  'ports{',
  'quote(',
  "[quote(a='",
  '[quote(a=[',
]

const openers = FAMILIES.flatMap((family) => family.openers.map((opener) => [family.id, opener, family] as const))

function milliseconds(family: Family, unit: string): number {
  const source = sourceFor(unit.repeat(Math.ceil(SIZE / unit.length)))
  const start = performance.now()
  blocksIn(family, source)
  return performance.now() - start
}

describe('a text of nothing but openers is read in linear time', () => {
  it.each(openers)(
    '%s: %j',
    (_, opener, family) => {
      for (const tail of TAILS) expect(milliseconds(family, opener + tail), opener + tail).toBeLessThan(LIMIT)
    },
    60_000,
  )

  it.each<readonly [Family, string]>([
    [mistral, '[TOOL_CALLS]a{'],
    [mistral, '[TOOL_CALLS]a{"b":"\\'],
    [llamaJson, '{"name":"quote","arguments":{'],
    [llamaJson, '[{"name":"quote","arguments":{}},'],
    [llamaJson, '{"arguments":{"'],
    [pythonic, '[quote('],
    [pythonic, "[quote(a='''"],
    [pythonic, '[quote(a=1, '],
    [pythonic, '[quote(a="\\'],
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
  ])('%#: %j', (family, unit) => expect(milliseconds(family, unit)).toBeLessThan(LIMIT))
})
