import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { bare, lfm2, llama3, llama4, olmo, pythonicTags, toolCode } from './index.ts'
import { reading } from './read.fixture.ts'

type Row = readonly [family: Family, text: string, calls: readonly string[], rest: string]

const QUOTE = 'quote({"symbol":"A","days":2})'
const json = '{"name": "quote", "parameters": {"symbol": "A", "days": 2}}'
const call = "quote(symbol='A', days=2)"

describe("calls in Python's notation, and without markup", () => {
  it.each<Row>([
    [bare, `[${call}]`, [QUOTE], '∎'],
    [bare, `[${call}, ports()]\n`, [QUOTE, 'ports({})'], '∎\n'],
    [bare, '[total(values=[1, -2.5, (3, None), {"a": true}])]', ['total({"values":[1,-2.5,[3,null],{"a":true}]})'], '∎'],
    [bare, '[total([1, 2])]', ['total({"values":[1,2]})!'], '∎'],
    [bare, '[quote("A", 2)]', [`${QUOTE}!`], '∎'],
    [bare, '[quote("A", days=2)]', [`${QUOTE}!`], '∎'],
    [bare, '[quote({"symbol": "A", "days": 2})]', [`${QUOTE}!`], '∎'],
    [bare, "[ports(), post_note(to='me', body='it", ['ports({})', "post_note(«to='me', body='it»)…"], '?'],
    [bare, '[ports(), qu', ['ports({})'], '[ports(), qu'],
    [llama4, `One <|python_start|>[${call}]<|python_end|> two`, [QUOTE], 'One ∎ two'],
    [llama4, `<|python_start|>${call}<|python_end|><|eom|>`, [QUOTE], '∎'],
    [llama4, `<|python_start|>${json}<|python_end|>`, [QUOTE], '∎'],
    [llama4, `<|python_start|>[${call}]`, [QUOTE], '∎'],
    [llama4, '<|python_start|>[quote(symbol=name())]<|python_end|>', ['quote(«symbol=name»)!'], '∎'],
    [llama4, `<|python_start|>[quote(symbol=a['b)']), ${call}]<|python_end|>`, ['quote(«symbol=a»)!', QUOTE], '∎'],
    [olmo, `<function_calls>total(values=[1e999])\n${call}</function_calls>`, ['total(«values=[1e999»)!', QUOTE], '∎'],
    [lfm2, `<|tool_call_start|>[quote(symbol='it 's'), ${call}]<|tool_call_end|>`, ["quote(«symbol='it '»)!"], '∎'],
    [lfm2, '<|tool_call_start|>[total(values={1, 2})]<|tool_call_end|>', ['total({"values":[1,2]})'], '∎'],
    [pythonicTags, `<tool_call>\n${call}\n</tool_call>\n<tool_call>ports()</tool_call>`, [QUOTE, 'ports({})'], '∎\n∎'],
    [toolCode, `\`\`\`tool_code\n[${call}]\n\`\`\``, [QUOTE], '∎'],
    [
      toolCode,
      `\`\`\`tool_code\nprint(default_api.quote(symbol="A", days=2))\n\`\`\` ok`,
      ['default_api.quote({"symbol":"A","days":2})'],
      '∎ ok',
    ],
    [toolCode, `\`\`\`tool_code\n${call}\nports()\n\`\`\``, [QUOTE, 'ports({})'], '∎'],
    [olmo, `<function_calls>${call}\nports()</function_calls>`, [QUOTE, 'ports({})'], '∎'],
    [olmo, `<function_calls>\n${call}\n</function_calls>`, [QUOTE], '∎'],
    [olmo, `<function_calls>${call}`, [QUOTE], '∎'],
    [olmo, '<function_calls>quote(symbol="A', ['quote(«symbol="A»)…'], '?'],
    [lfm2, `<|tool_call_start|>[${call}]<|tool_call_end|>`, [QUOTE], '∎'],
    [lfm2, `<|tool_call_start|>[${json}]<|tool_call_end|>`, [QUOTE], '∎'],
    [lfm2, `<|tool_call_start|>${call}<|tool_call_end|>`, [QUOTE], '∎'],
    [lfm2, `a<|tool_call_start|>[${call}, ports()]`, [QUOTE, 'ports({})'], 'a∎'],
    [lfm2, `<|tool_call_start|>\n\`\`\`python\n${call}\n\`\`\`\n<|tool_call_end|>`, [QUOTE], '∎'],
    [lfm2, '<|tool_call_start|>[ports(), quote(symbol="', ['ports({})', 'quote(«symbol="»)…'], '?'],
    [lfm2, '<|tool_call_start|>[]<|tool_call_end|> x', [], '∎ x'],
    [lfm2, `<|tool_call_start|>[${call}<|tool_call_end|>`, [QUOTE], '∎'],
    [llama3, `<|python_tag|>${json}<|eom_id|>`, [QUOTE], '∎'],
    [llama3, `<|python_tag|>${json}; {"name": "ports", "parameters": {}}`, [QUOTE, 'ports({})'], '∎'],
    [llama3, '<|python_tag|>quote.call(symbol="A", days=2)<|eom_id|>', [QUOTE], '∎'],
    [llama3, '<|python_tag|>{"name": "quote", "parameters": {"sym', ['quote(«{"sym»)…'], '?'],
    [llama3, '<|python_tag|>{"type": "function", "name": "ports", "parameters": null}', ['ports({})'], '∎'],
    [bare, json, [QUOTE], '∎'],
    [bare, `${json} ; ${json}, ${json}\n${json}`, [QUOTE, QUOTE, QUOTE, QUOTE], '∎'],
    [bare, `${json}}\n`, [QUOTE], '∎\n'],
    [bare, `[${json}, ${json}] x`, [QUOTE, QUOTE], '∎ x'],
    [bare, '{"type": "function", "function": {"name": "ports", "arguments": "{}"}}', ['ports(«{}»)'], '∎'],
    [bare, '{"function": "ports", "arguments": {}}', ['ports({})'], '∎'],
    [bare, '{"arguments": {}, "name": "ports"}', ['ports({})'], '∎'],
    [bare, '{"name": "quote", "parameters": {"symbol": "A"', ['quote(«{"symbol": "A"»)…'], '?'],
  ])('%#: $1', (family, text, calls, rest) => {
    const read = reading(family, text)
    expect(read).toEqual({ calls, rest: rest === text ? '?' : rest })
  })

  it.each<readonly [Family, string]>([
    [bare, '[nobody(x=1)]'],
    [bare, '[ports(), nobody()]'],
    [bare, '[quote(symbol=x + 1)]'],
    [bare, '[quote(symbol=f"{a}")]'],
    [bare, '[quote(symbol=str(1))]'],
    [bare, '[quote](https://example.org)'],
    [bare, '[quote("a", "b", "c")]'],
    [bare, '[quote(symbol="a", symbol="b")]'],
    [bare, '[quote(symbol=a) for a in b]'],
    [llama4, '<|python_start|>x = 1<|python_end|>'],
    [llama4, 'a <|python_start|>'],
    [pythonicTags, '<tool_call>nobody(x=1)</tool_call>'],
    [pythonicTags, 'The tag <tool_call> begins'],
    [toolCode, '```tool_code\nopen("x")\n```'],
    [toolCode, '```tool_code\nx = quote(symbol="A")\n```'],
    [olmo, '<function_calls>\n<invoke name="quote"></invoke></function_calls>'],
    [olmo, 'Write <function_calls> first'],
    [lfm2, 'the <|tool_call_start|> token'],
    [llama3, '<|python_tag|>import os\nprint(os.getcwd())'],
    [bare, '{"name": "quote"}'],
    [bare, '{"name": "nobody", "parameters": {}}'],
    [bare, '{"name": "Quote", "parameters": {}}'],
    [bare, `[${json}, {"name": "nobody", "parameters": {}}]`],
    [bare, '{"quote": {"symbol": "A"}}'],
    [bare, '[1, 2, {"a": 3}]'],
  ])('none of its own, %#: $1', (family, text) => expect(reading(family, text)).toEqual({ calls: [], rest: text }))
})
