import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { bare, deepseek, functionaryV3, gemma, harmony, kimi, llamaFunction, mistral, plamo, solar } from './index.ts'
import { reading } from './read.fixture.ts'

type Row = readonly [family: Family, text: string, calls: readonly string[], rest: string]

const QUOTE = 'quote({"symbol":"A"})'
const args = '{"symbol":"A"}'
const ds = (text: string): string => text.replaceAll('<', '<｜').replaceAll('>', '｜>').replaceAll('_', '▁')
const kimiOne = `<|tool_call_begin|>functions.quote:3<|tool_call_argument_begin|>${args}<|tool_call_end|>`
const plamoTag = (name: string): string => `<|plamo:${name}:plamo|>`
const plamoOne = [
  ...[plamoTag('begin_tool_request'), plamoTag('begin_tool_name'), 'quote', plamoTag('end_tool_name'), plamoTag('begin_tool_arguments')],
  ...[args, plamoTag('end_tool_arguments'), plamoTag('end_tool_request')],
].join('')
const solarOne = `<|tool_call:begin|>x1<|tool_call:name|>quote<|tool_call:args|>${args}<|tool_call:end|>`

describe('a name, then JSON', () => {
  it.each<Row>([
    [mistral, `[TOOL_CALLS] [{"name":"quote","arguments":${args}}]</s>`, [QUOTE], '∎'],
    [mistral, `[TOOL_CALLS]quote${args}`, [QUOTE], '∎'],
    [mistral, `So: [TOOL_CALLS]quote[ARGS]${args}[TOOL_CALLS]ports[ARGS]{}`, [QUOTE, 'ports({})'], 'So: ∎'],
    [mistral, `[TOOL_CALLS]quote[CALL_ID]a1B2[ARGS]${args}</s>`, [QUOTE], '∎'],
    [mistral, `[TOOL_CALLS]quote${args}ports{} then`, [QUOTE, 'ports({})'], '∎ then'],
    [mistral, '[TOOL_CALLS]ports[ARGS][TOOL_CALLS]ports{}', ['ports({})', 'ports({})'], '∎'],
    [mistral, '[TOOL_CALLS]other_tool{}', ['other_tool({})'], '∎'],
    [
      deepseek,
      ds(`<tool_calls_begin><tool_call_begin>function<tool_sep>quote\n\`\`\`json\n${args}\n\`\`\`<tool_call_end><tool_calls_end>`),
      [QUOTE],
      '∎',
    ],
    [
      deepseek,
      ds(`<tool_calls_begin><tool_call_begin>quote<tool_sep>${args}<tool_call_end><tool_calls_end><end_of_sentence>`),
      [QUOTE],
      '∎',
    ],
    [
      deepseek,
      `a<|tool_calls_begin|><|tool_call_begin|>quote<|tool_sep|>${args}<|tool_call_end|>\n<|tool_call_begin|>ports<|tool_sep|>{}<|tool_call_end|><|tool_calls_end|>b`,
      [QUOTE, 'ports({})'],
      'a∎b',
    ],
    [deepseek, ds(`<tool_call_begin>function<tool_sep>quote\n\`\`\`json\n${args}\`\`\``), [QUOTE], '∎'],
    [deepseek, `<｜tool calls begin｜><｜tool call begin｜>quote<｜tool sep｜>${args}`, [QUOTE], '∎'],
    [deepseek, ds(`<tool_calls_begin>function<tool_sep>quote\n\`\`\`json\n${args}\n\`\`\`<tool_calls_end>`), [QUOTE], '∎'],
    [kimi, `<|tool_calls_section_begin|>${kimiOne}<|tool_calls_section_end|>`, [`${QUOTE}#functions.quote:3`], '∎'],
    [
      kimi,
      `<|tool_call_section_begin|>${kimiOne}\n${kimiOne}<|tool_call_section_end|>`,
      [`${QUOTE}#functions.quote:3`, `${QUOTE}#functions.quote:3`],
      '∎',
    ],
    [kimi, `see ${kimiOne} so`, [`${QUOTE}#functions.quote:3`], 'see ∎ so'],
    [kimi, `<|tool_call_begin|>  quote.0  <|tool_call_argument_begin|> ${args} <|tool_call_end|>`, [`${QUOTE}#quote.0`], '∎'],
    [kimi, `<|tool_call_begin|>functions.quote<|tool_call_argument_begin|>${args}`, [QUOTE], '∎'],
    [solar, `<|tool_calls|>${solarOne}${solarOne}<|calls|>`, [QUOTE, QUOTE], '∎'],
    [solar, `${solarOne}`, [QUOTE], '∎'],
    [
      plamo,
      `Well.${plamoTag('begin_tool_requests')}${plamoOne}${plamoOne}${plamoTag('end_tool_requests')}<|plamo:tag|>`,
      [QUOTE, QUOTE],
      'Well.∎',
    ],
    [plamo, plamoOne.replace('{', '<|plamo:msg|>{'), [QUOTE], '∎'],
    [harmony, `<|channel|>commentary to=functions.quote <|constrain|>json<|message|>${args}<|call|>`, [QUOTE], '∎'],
    [harmony, `<|start|>assistant<|channel|>commentary to=functions.quote<|message|>${args}<|call|>`, [QUOTE], '∎'],
    [harmony, `<|start|>assistant to=functions.quote<|channel|>commentary json<|message|>${args}`, [QUOTE], '∎'],
    [harmony, ` to=functions.quote<|channel|>analysis <|constrain|>json<|message|>${args}`, [QUOTE], ' ∎'],
    [harmony, `assistantcommentary to=functions.quote json${args}`, [QUOTE], '∎'],
    [harmony, `Fine.\nanalysis to=functions.quote code${args}`, [QUOTE], 'Fine.\n∎'],
    [harmony, `commentary to=functions.quotejson${args}`, [QUOTE], '∎'],
    [harmony, `<|channel|>commentary to=functions.quotecommentary json${args}`, [QUOTE], '∎'],
    [harmony, `to=functions.quote json\n${args} ok`, [QUOTE], '∎ ok'],
    [
      harmony,
      `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=quote<|message|>${args}`,
      [QUOTE],
      '<|channel|>analysis<|message|>Hm.<|end|>∎',
    ],
    [bare, `quote\n${args}`, [QUOTE], '∎'],
    [bare, `quote \r\n ${args}\n`, [QUOTE], '∎\n'],
    [functionaryV3, `>>>quote\n${args}\n>>>ports\n{}`, [QUOTE, 'ports({})'], '∎\n∎'],
    [functionaryV3, `>>>all\nHello>>>ports\n{}`, ['ports({})'], '>>>all\nHello∎'],
    [llamaFunction, `<function=quote>${args}</function>`, [QUOTE], '∎'],
    [llamaFunction, `a<function=quote${args}</function><function=ports> {}<|eom_id|>b`, [QUOTE, 'ports({})'], 'a∎∎b'],
    [llamaFunction, `<function=quote>${args}<function>`, [QUOTE], '∎'],
  ])('%#: $1', (family, text, calls, rest) => {
    expect(reading(family, text)).toEqual({ calls, rest })
    expect(reading(family, text.replaceAll(/\r?\n/g, '\r\n'))).toEqual({ calls, rest: rest.replaceAll('\n', '\r\n') })
  })

  it.each<Row>([
    [mistral, '[TOOL_CALLS]quote{"symbol":"A}[TOOL_CALLS]ports{}', ['quote(«{"symbol":"A}»)', 'ports({})'], '∎'],
    [mistral, `[TOOL_CALLS] [{"name":"quote","arguments":${args}]`, ['quote(«{"symbol":"A"}»)!'], '∎'],
    [mistral, '[TOOL_CALLS]quote{"symbol":A}', ['quote(«{"symbol":A}»)'], '∎'],
    [deepseek, ds(`<tool_call_begin>quote\n\`\`\`json\n${args}\n\`\`\`<tool_call_end>`), [`${QUOTE}!`], '∎'],
    [deepseek, ds('<tool_call_begin>quote<tool_sep>not json<tool_call_end>'), ['quote(«not json»)'], '∎'],
    [deepseek, ds('<tool_call_begin>quote<tool_sep>{"symbol":"5" a"}<tool_call_end> z'), ['quote(«{"symbol":"5" a"}»)'], '∎ z'],
    [kimi, `<|tool_call_begin|>functions.quote:1${args}<|tool_call_end|>`, [`${QUOTE}!#functions.quote:1`], '∎'],
    [
      kimi,
      '<|tool_call_begin|>functions.quote:1<|tool_call_argument_begin|>{"symbol":"A"<|tool_call_end|>',
      ['quote(«{"symbol":"A"»)#functions.quote:1'],
      '∎',
    ],
    [
      kimi,
      `<|tool_call_begin|>functions.quote:1<|tool_call_argument_begin|>{"symbol":"A"<|tool_call_end|>${kimiOne}`,
      ['quote(«{"symbol":"A"»)#functions.quote:1', `${QUOTE}#functions.quote:3`],
      '∎',
    ],
    [kimi, '<|tool_call_begin|>functions.ports:1<|tool_call_argument_begin|><|tool_call_end|>', ['ports({})#functions.ports:1'], '∎'],
    [harmony, '<|channel|>commentary to=functions.quote<|message|>soon<|call|>', ['quote(«soon»)'], '∎'],
    [harmony, `<|channel|>commentary to=functions.quote<|message|>${args}}<|call|>`, [QUOTE], '∎'],
    [llamaFunction, '<function=quote>{"symbol":"A"</function>', ['quote(«{"symbol":"A"»)'], '∎'],
  ])('damage, %#: $1', (family, text, calls, rest) => expect(reading(family, text)).toEqual({ calls, rest }))

  it.each<Row>([
    [mistral, '[TOOL_CALLS]ports{}[TOOL_CALLS]quote{"symbol":"', ['ports({})', 'quote(«{"symbol":"»)…'], '?'],
    [mistral, '[TOOL_CALLS]quote[ARGS]', ['quote(«»)…'], '?'],
    [mistral, '[TOOL_CALLS]quo', ['quo(«»)…'], '?'],
    [
      deepseek,
      ds(`<tool_calls_begin><tool_call_begin>quote<tool_sep>${args}<tool_call_end><tool_call_begin>ports<tool_sep>{"a`),
      [QUOTE, 'ports(«{"a»)…'],
      '?',
    ],
    [deepseek, ds('<tool_calls_begin><tool_call_begin>quo'), [], '?'],
    [kimi, `<|tool_calls_section_begin|>${kimiOne}<|tool_call_begin|>functions.p`, [`${QUOTE}#functions.quote:3`], '?'],
    [kimi, '<|tool_call_begin|>functions.quote:0<|tool_call_argument_begin|>{"symbol"', ['quote(«{"symbol"»)…#functions.quote:0'], '?'],
    [plamo, plamoOne.slice(0, plamoOne.indexOf('mbol')), ['quote(«{"sy»)…'], '?'],
    [solar, '<|tool_call:begin|>x<|tool_call:name|>quote<|tool_call:args|>{"s', ['quote(«{"s»)…'], '?'],
    [harmony, '<|channel|>commentary to=functions.quote json<|message|>{"symbol":', ['quote(«{"symbol":»)…'], '?'],
    [harmony, 'commentary to=functions.quote json{"symbol":', ['quote(«{"symbol":»)…'], '?'],
    [bare, 'quote\n{"symbol":', ['quote(«{"symbol":»)…'], '?'],
    [functionaryV3, '>>>quote\n{"symbol":', ['quote(«{"symbol":»)…'], '?'],
    [llamaFunction, '<function=quote>{"symbol":', ['quote(«{"symbol":»)…'], '?'],
  ])('cut off, %#: $1', (family, text, calls, rest) => expect(reading(family, text)).toEqual({ calls, rest }))

  it.each<readonly [Family, string]>([
    [mistral, 'The token [TOOL_CALLS] comes first.'],
    [mistral, '[TOOL_CALLS]'],
    [deepseek, 'It is <|tool_call_begin|> and more'],
    [deepseek, '<|tool_call_begin|>functions.quote:0<|tool_call_argument_begin|>{}<|tool_call_end|>'],
    [deepseek, '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="quote"></steptml:invoke>'],
    [kimi, 'It is <|tool_call_begin|> and more'],
    [solar, 'a <|tool_call:begin|> b'],
    [harmony, '<|channel|>analysis<|message|>I could use to=functions here.<|end|>'],
    [harmony, '<|channel|>final<|message|>Done.'],
    [harmony, '<|start|>assistant<|channel|>commentary<|message|>Now I look.'],
    [harmony, 'set to=functions.quote in the header'],
    [harmony, 'commentary to=functions.nobody json{"a":1}'],
    [bare, 'quote of the day\n{"symbol":"A"}'],
    [bare, 'nobody\n{"symbol":"A"}'],
    [functionaryV3, '>>>>>>> branch\n{'],
    [functionaryV3, '>>> quote\n{}'],
    [functionaryV3, '>>>nobody\n{}'],
    [llamaFunction, '<function=quote>\n<parameter=symbol>A</parameter></function>'],
    [llamaFunction, '<function=...>'],
  ])('none of its own, %#: $1', (family, text) => expect(reading(family, text)).toEqual({ calls: [], rest: text }))
})

describe('gemma', () => {
  const g = (body: string, end = '<tool_call|>'): string => `<|tool_call>call:${body.replaceAll("'", '<|"|>')}${end}`
  it.each<readonly [text: string, calls: readonly string[], rest: string]>([
    [g("quote{symbol:'A b',days:5}"), ['quote({"symbol":"A b","days":5})'], '∎'],
    [`x${g('ports{}')}${g('ports{}')}y`, ['ports({})', 'ports({})'], 'x∎∎y'],
    [g("total{values:['a',1.5e2,-3,true,null,[],{k:'v'}]}"), ['total({"values":["a",150,-3,true,null,[],{"k":"v"}]})'], '∎'],
    [g('post_note{body:\'a\n{b}, "c" \\d <tool_call|>\'}'), ['post_note({"body":"a\\n{b}, \\"c\\" \\\\d <tool_call|>"})'], '∎'],
    [g('quote{symbol:A b, days: 5}'), ['quote({"symbol":"A b","days":5})'], '∎'],
    [g('quote{"symbol":"A","days":null}'), ['quote({"symbol":"A","days":null})'], '∎'],
    [g("quote{'symbol':'A'}"), ['quote({"symbol":"A"})'], '∎'],
    [g('ports'), ['ports({})'], '∎'],
    ['<start_function_call>call:quote{symbol:<escape>A<escape>}<end_function_call>', ['quote({"symbol":"A"})'], '∎'],
    [g("quote{symbol:'A'}", ''), ['quote({"symbol":"A"})'], '∎'],
    [g("quote{symbol:'A'"), ['quote({"symbol":"A"})!'], '∎'],
    [g("quote{symbol:'A}"), ['quote({"symbol":"A"})!'], '∎'],
    [g("total{values:['a','b'}"), ['total({"values":["a","b"]})!'], '∎'],
    [`${g("quote{symbol:'A}")}${g("quote{symbol:'B'}")}`, ['quote({"symbol":"A"})!', 'quote({"symbol":"B"})'], '∎∎'],
    [g("quote{symbol:'A',days}"), ['quote(«{symbol:<|"|>A<|"|>,days}<tool_call|>»)!'], '∎'],
    [g("quote{symbol:'A", ''), ['quote({"symbol":"A"})…'], '?'],
    [g("quote{symbol:'A',da", ''), ['quote({"symbol":"A"})…'], '?'],
    [g('quote{symbol:A', ''), ['quote({"symbol":"A"})…'], '?'],
    [g('quo', ''), ['quo({})…'], '?'],
    [g("quote{symbol:'A'}").replace('call:', ':call:'), ['quote({"symbol":"A"})'], '∎'],
    [g("quote{symbol:'A'}", '<turn|>'), ['quote({"symbol":"A"})'], '∎'],
    [g("quote{symbol:'A'}", '<tool_call|>\n<turn|>'), ['quote({"symbol":"A"})'], '∎'],
    [g("quote{symbol:'A'}", '').replace('<|tool_call>call:', '<call>'), ['quote({"symbol":"A"})'], '∎'],
    ['<call>nobody{a:1} and <call>quote', [], '<call>nobody{a:1} and <call>quote'],
    ['the <|tool_call> token', [], 'the <|tool_call> token'],
    ['<|tool_call>', [], '?'],
    ['a <|tool_call>ca', [], 'a ?'],
    ['a <|tool_call>cat', [], 'a <|tool_call>cat'],
  ])('%s', (text, calls, rest) => expect(reading(gemma, text)).toEqual({ calls, rest }))
})
