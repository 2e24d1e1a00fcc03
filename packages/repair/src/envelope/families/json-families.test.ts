import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { apertus } from './apertus.ts'
import { cohere } from './cohere.ts'
import { commandR } from './command-r.ts'
import { functools } from './functools.ts'
import { gigachat } from './gigachat.ts'
import { granite } from './granite.ts'
import { hermes } from './hermes.ts'
import { hyperclova } from './hyperclova.ts'
import { internlm2 } from './internlm2.ts'
import { k2Horizon } from './k2-horizon.ts'
import { longcat } from './longcat.ts'
import { nemotron } from './nemotron.ts'
import { pangu } from './pangu.ts'
import { reading } from './read.fixture.ts'
import { rwkv } from './rwkv.ts'
import { toolCalls } from './tool-calls.ts'

const one = '{"name":"quote","arguments":{"symbol":"ACME","days":3}}'
const two = '{"name":"ports","arguments":{}}'
const ONE = 'quote({"symbol":"ACME","days":3})'
const TWO = 'ports({})'

type Row = readonly [family: Family, text: string, calls: readonly string[], rest: string]

describe('JSON between tags', () => {
  it.each<Row>([
    [hermes, `<tool_call>\n${one}\n</tool_call>`, [ONE], '∎'],
    [hermes, `a <tool_call>${one}</tool_call>\n<tool_call>${two}</tool_call> z`, [ONE, TWO], 'a ∎\n∎ z'],
    [hermes, `<tool_call>[${one}, ${two}]</tool_call>`, [ONE, TWO], '∎'],
    [hermes, `<tool_call>\n${one}\n${two}\n</tool_call>`, [ONE, TWO], '∎'],
    [hermes, `<tools>${one}</tools><|im_end|>`, [ONE], '∎'],
    [hermes, `<tool_call>${one}<tool_call|>`, [ONE], '∎'],
    [hermes, `<tool_call>\`\`\`json\n${one}\n\`\`\`</tool_call>`, [ONE], '∎'],
    [hermes, `<dots_function_call>${one}</dots_function_call>`, [ONE], '∎'],
    [hermes, "<tool_call>\n{'arguments': {'symbol': 'ACME', 'days': 3}, 'name': 'quote'}\n</tool_call>", [ONE.replace(')', ')!')], '∎'],
    [hyperclova, ` -> tool/function_call\n[${one}, ${two}]<|im_end|>`, [ONE, TWO], ' ∎'],
    [
      k2Horizon,
      `<ifm|tool_calls><ifm|tool_call>${one}</ifm|tool_call>\n<ifm|tool_call>${two}</ifm|tool_call></ifm|tool_calls>`,
      [ONE, TWO],
      '∎\n∎',
    ],
    [rwkv, `Well.\n**Tool Call:**\n\`\`\`json\n${one}\n\`\`\``, [ONE], 'Well.\n∎'],
    [granite, `<|tool_call|>[${one}]`, [ONE], '∎'],
    [granite, `<|tool_call|> [${one}, ${two}]<|/tool_call|>`, [ONE, TWO], '∎'],
    [granite, `Well.\n<function_call> ${one}\n<function_call> ${two}`, [ONE, TWO], 'Well.\n∎\n∎'],
    [granite, `<|tool_call|>[${one}]\n<|end_of_text|>`, [ONE], '∎'],
    [granite, `<function_call>${one}</function_call>`, [ONE], '∎'],
    [granite, '<|tool_call|>[]', [], '∎'],
    [functools, `functools[${one}, ${two}]`, [ONE, TWO], '∎'],
    [functools, `Now: functools[${one}]<|end|>`, [ONE], 'Now: ∎'],
    [toolCalls, `<tool_calls>[${one}]</tool_calls> Bye`, [ONE], '∎ Bye'],
    [toolCalls, `<tool_calls>\n${one}\n${two}\n</tool_calls>`, [ONE, TWO], '∎'],
    [toolCalls, ` <tool_calls>[\n  ${one},\n  ${two}\n]</tool_calls>`, [ONE, TWO], ' ∎'],
    [nemotron, `<TOOLCALL>[${one}]</TOOLCALL><SPECIAL_12>`, [ONE], '∎'],
    [nemotron, `<TOOLCALL>${one}</TOOLCALL> ok`, [ONE], '∎ ok'],
    [cohere, '<|START_ACTION|>[\n{"tool_call_id":"0","tool_name":"ports","parameters":{}}\n]<|END_ACTION|>', [TWO], '∎'],
    [cohere, '<|START_ACTION|>{"tool_name":"ports"}', [TWO], '∎'],
    [commandR, 'Action:\n```json\n[{"tool_name":"ports","parameters":{}}]\n```', [TWO], '∎'],
    [commandR, 'Action: ```json\n[\n  {"tool_name":"ports","parameters":{}}\n]```\nThen', [TWO], '∎\nThen'],
    [commandR, 'Action:[{"tool_name":"ports","parameters":{}}]', [TWO], '∎'],
    [internlm2, '<|action_start|><|plugin|>{"name":"ports","parameters":{}}<|action_end|><|im_end|>', [TWO], '∎'],
    [internlm2, '<|action_start|> <|plugin|>\n{"name":"ports","parameters":{}}', [TWO], '∎'],
    [longcat, `<longcat_tool_call>${one}</longcat_tool_call>`, [ONE], '∎'],
    [longcat, `x<longcat_tool_call>\n${two}\n</longcat_tool_call>y`, [TWO], 'x∎y'],
    [apertus, '<|tools_prefix|>[{"ports": {}}, {"total": {"values": [1]}}]<|tools_suffix|>', [TWO, 'total({"values":[1]})'], '∎'],
    [apertus, '<|tools_prefix|>[{"ports": {}}]', [TWO], '∎'],
    [gigachat, `Hm.<|message_sep|>\n\nfunction call<|role_sep|>\n${one}`, [ONE], 'Hm.∎'],
    [gigachat, `<|function_call|>${two}`, [TWO], '∎'],
    [gigachat, `function call<|role_sep|>\n${two}<|message_sep|>`, [TWO], '∎'],
    [pangu, `[unused11][${one}][unused12]`, [ONE], '∎'],
  ])('%#: $1', (family, text, calls, rest) => expect(reading(family, text)).toEqual({ calls, rest }))

  it.each<Row>([
    [hermes, `<tool_call>${one}`, [ONE], '∎'],
    [hermes, `<tool_call>${one}</tool_c`, [ONE], '∎'],
    [hermes, `<tool_call>${one}}</tool_call>`, [ONE], '∎'],
    [hermes, '<tool_call>{"name":"quote","arguments":{"symbol":"A"}</tool_call>', ['quote(«{"symbol":"A"}»)!'], '∎'],
    [hermes, '<tool_call>{"name":"quote","arguments":{"symbol":"5" pipe"}}</tool_call> ok', ['quote(«{"symbol":"5" pipe"}»)!'], '∎ ok'],
    [
      hermes,
      `<tool_call>{"name":"quote","arguments":{"symbol":"}</tool_call><tool_call>${two}</tool_call>`,
      ['quote(«{"symbol":"}»)!', TWO],
      '∎∎',
    ],
    [
      hermes,
      '<tool_call>{"name":"quote","arguments":{"symbol":"5" a"}}</tool_call>\n<tool_call>{"name":"post_note","arguments":{"to":"6" b"}}</tool_call>',
      ['quote(«{"symbol":"5" a"}»)!', 'post_note(«{"to":"6" b"}»)!'],
      '∎\n∎',
    ],
    [hermes, "<tool_call>{'name': 'total', 'arguments': {'values': [True]}}</tool_call>", ["total(«{'values': [True]}»)!"], '∎'],
    [hermes, '<functioncall> {"name": "ports", "arguments": \'{"a": 1}\'}', ['ports(«{"a": 1}»)!'], '∎'],
    [hermes, '<tool_call>{"name":"ports","arguments":"{\\"a\\":1}"}</tool_call>', ['ports(«{"a":1}»)'], '∎'],
    [hermes, '<tool_call>{"name":"ports","arguments":"later"}</tool_call>', ['ports(«later»)'], '∎'],
    [hermes, `<tool_call>{${two}}</tool_call>`, [`${TWO}!`], '∎'],
    [hermes, '<tool_call>{"city":"Rome"}</tool_call>', ['(«{"city":"Rome"}»)!'], '∎'],
    [hermes, '<tool_call>{"name":"quote","symbol":"A"}</tool_call>', ['quote({"symbol":"A"})!'], '∎'],
    [hermes, '<tool_call>{"arguments":{"a":1,},"name":"ports"}</tool_call>', ['ports(«{"a":1,}»)!'], '∎'],
    [toolCalls, `<tool_calls>\n${one}\n{oh no}\n${two}\n</tool_calls>`, [ONE, '(«{oh no}»)!', TWO], '∎'],
    [toolCalls, `<tool_calls>\n{"name":"quote","arguments":{"symbol":\n${two}\n</tool_calls>`, ['quote(«{"symbol":»)!', TWO], '∎'],
    [toolCalls, `<tool_calls>[${one}, {"name":"ports","arguments":{"a":}}]</tool_calls>`, [ONE, 'ports(«{"a":}»)!'], '∎'],
    [toolCalls, `<tool_calls>[${one}</tool_calls>`, [ONE], '∎'],
    [toolCalls, `<tool_calls>\n${one}`, [ONE], '∎'],
    [nemotron, `<TOOLCALL>[${one},]</TOOLCALL>`, [ONE], '∎'],
    [gigachat, '<|function_call|>{"name":"ports","arguments":"all"}', ['ports(«all»)'], '∎'],
  ])('damage, %#: $1', (family, text, calls, rest) => expect(reading(family, text)).toEqual({ calls, rest }))

  it.each<Row>([
    [hermes, '<tool_call>{"name":"post_note","arguments":{"body":"half of', ['post_note(«{"body":"half of»)…'], '?'],
    [hermes, `<tool_call>[${one}, {"name":"post_note","argum`, [ONE, 'post_note({})…'], '?'],
    [hermes, `<tool_call>[${one}`, [ONE], '?'],
    [
      hermes,
      '<tool_call>{"name":"quote","arguments":{"symbol":"the tag </tool_call> ends',
      ['quote(«{"symbol":"the tag </tool_call> ends»)…'],
      '?',
    ],
    [hermes, '<tool_call>{"na', ['(«{"na»)!…'], '?'],
    [granite, `<|tool_call|>[${one},{"name":"ports","arguments":{`, [ONE, 'ports(«{»)…'], '?'],
    [granite, '<function_call> {"name":"ports","arguments":{"a"', ['ports(«{"a"»)…'], '?'],
    [toolCalls, `<tool_calls>\n${one}\n{"name":"ports","arguments":{"a"`, [ONE, 'ports(«{"a"»)…'], '?'],
    [nemotron, '<TOOLCALL>[{"name":"ports","arguments":{"a":', ['ports(«{"a":»)…'], '?'],
    [cohere, '<|START_ACTION|>[{"tool_name":"quote","parameters":{"symbol":"A', ['quote(«{"symbol":"A»)…'], '?'],
    [commandR, 'Action:\n```json\n[{"tool_name":"quote","parameters":{"symbol":"A', ['quote(«{"symbol":"A»)…'], '?'],
    [internlm2, '<|action_start|><|plugin|>{"name":"ports","parameters":{"a":1', ['ports(«{"a":1»)…'], '?'],
    [longcat, '<longcat_tool_call>{"name":"ports","arguments":{"a":1', ['ports(«{"a":1»)…'], '?'],
    [apertus, '<|tools_prefix|>[{"total": {"values": [1', ['(«{"total": {"values": [1»)!…'], '?'],
    [functools, 'functools[{"name":"ports","arguments":{"a":1', ['ports(«{"a":1»)…'], '?'],
    [gigachat, '<|function_call|>{"name":"ports","arguments":{"a":1', ['ports(«{"a":1»)…'], '?'],
    [pangu, '[unused11][{"name":"ports","arguments":{"a":1', ['ports(«{"a":1»)…'], '?'],
  ])('cut off, %#: $1', (family, text, calls, rest) => expect(reading(family, text)).toEqual({ calls, rest }))

  it.each<readonly [Family, string]>([
    [hermes, '<tool_call>quote\n<arg_key>symbol</arg_key><arg_value>A</arg_value></tool_call>'],
    [hermes, '<tool_call>\n<function=quote>\n<parameter=symbol>A</parameter></function></tool_call>'],
    [hermes, 'The tag <tool_call> begins a call.'],
    [hermes, '<tool_call>'],
    [toolCalls, '<tool_calls><tool_call>quote<tool_sep></tool_call></tool_calls>'],
    [toolCalls, 'Between <tool_calls> and </tool_calls>'],
    [granite, 'a <function_call> is'],
    [granite, '<|tool_call|>quote(symbol="A")'],
    [functools, 'functools[0] and functools[wraps]'],
    [functools, 'functools[{"name":"nobody","arguments":{}}]'],
    [nemotron, '<TOOLCALL> none </TOOLCALL>'],
    [cohere, '<|START_ACTION|> soon'],
    [hyperclova, 'a -> tool/function_call b'],
    [k2Horizon, '<ifm|tool_calls><ifm|tool_call>ports</ifm|tool_call></ifm|tool_calls>'],
    [rwkv, '**Tool Call:**\n```json\n{"name":"nobody","arguments":{}}\n```'],
    [rwkv, '**Tool Call:** none'],
    [commandR, 'Action: none'],
    [commandR, 'Action:\n```json\n[{"step": 1}]\n```'],
    [internlm2, '<|action_start|><|interpreter|>\nprint(1)<|action_end|>'],
    [longcat, '<longcat_tool_call>ports</longcat_tool_call>'],
    [apertus, '<|tools_prefix|> display'],
    [gigachat, 'one<|message_sep|>\n\nassistant<|role_sep|>\ntwo'],
    [pangu, '[unused11] [unused12]'],
  ])('none of its own, %#: $1', (family, text) => expect(reading(family, text)).toEqual({ calls: [], rest: text }))
})
