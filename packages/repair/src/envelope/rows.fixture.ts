/** Replies with calls in the text, by family: as their templates have them, and as they arrive damaged. */
import type { ToolSpec } from '../tool-spec.ts'
import { WRITERS, type Written } from './canonical-calls.fixture.ts'

export interface Row {
  readonly id: string
  readonly family: string
  readonly raw: string
  readonly tools: readonly ToolSpec[]
  readonly calls: readonly Written[]
  /** What is left to show, without the white space around it. */
  readonly text: string
}

const tool = (name: string, types: Readonly<Record<string, string>>): ToolSpec => ({
  name,
  parameters: { type: 'object', properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }])) },
  effect: 'read',
})

/** All of them read: nothing is refused for what it would do. */
export const TOOLS: readonly ToolSpec[] = [
  tool('look_up', { query: 'string', limit: 'integer' }),
  tool('open_page', { path: 'string', raw: 'boolean' }),
  tool('count_words', { text: 'string', unique: 'boolean', top: 'integer' }),
  tool('clock', {}),
]

export const ONE: Written = { name: 'look_up', arguments: { query: 'first snow', limit: 3 } }
const OTHER: Written = { name: 'open_page', arguments: { path: 'a/b c.md', raw: true } }
const LONG: Written = { name: 'count_words', arguments: { text: 'It is 5 < 7 & "so" on — [x], {y}, ünï 中 🙂: done.', unique: false } }

type Scene = readonly [name: string, calls: readonly Written[], around: (markup: string) => string, text: string]

const SCENES: readonly Scene[] = [
  ['alone', [ONE], (markup) => markup, ''],
  ['after text', [OTHER], (markup) => `I'll open that page now.\n\n${markup}`, "I'll open that page now."],
  ['after reasoning', [LONG], (markup) => `<think>\nThe words have to be counted.\n</think>\n\n${markup}\n`, ''],
  ['two calls', [ONE, OTHER], (markup) => `Two things at once.\n${markup}\n`, 'Two things at once.'],
]

const scenes = Object.entries(WRITERS).flatMap(([family, write]) =>
  SCENES.map(
    ([name, calls, around, text]): Row => ({ id: `${family}: ${name}`, family, raw: around(write(calls)), tools: TOOLS, calls, text }),
  ),
)

const K = (key: string): string => `<arg_key>${key}</arg_key>`
const V = (value: string): string => `<arg_value>${value}</arg_value>`
const SNOW: Written = { name: 'look_up', arguments: { query: 'snow' } }
const CLOCK: Written = { name: 'clock', arguments: {} }

type Special = readonly [family: string, name: string, raw: string, calls: readonly Written[], text?: string]

/** GLM, and what servers and quantisation make of it. */
const GLM: readonly Special[] = [
  ['glm', 'on one line', `<tool_call>look_up${K('query')}${V('snow')}</tool_call>`, [SNOW]],
  ['glm', 'no arguments', '<tool_call>clock</tool_call>', [CLOCK]],
  ['glm', 'no arguments, on lines', '<tool_call>clock\n</tool_call>\n', [CLOCK]],
  ['glm', 'glued to the text', `Looking.<tool_call>look_up${K('query')}${V('snow')}</tool_call>`, [SNOW], 'Looking.'],
  ['glm', 'no opening of a value', `<tool_call>look_up${K('query')}snow</arg_value></tool_call>`, [SNOW]],
  ['glm', 'no opening of a key', `<tool_call>look_upquery</arg_key>${V('snow')}</tool_call>`, [SNOW]],
  ['glm', 'a call tag for a key tag', `<tool_call>look_up<tool_call>query</arg_key>${V('snow')}</tool_call>`, [SNOW]],
  ['glm', 'no closing of the last value', `<tool_call>look_up${K('query')}<arg_value>snow</tool_call>`, [SNOW]],
  [
    'glm',
    'no closing of a value between',
    `<tool_call>look_up${K('query')}<arg_value>snow\n${K('limit')}${V('3')}</tool_call>`,
    [{ name: 'look_up', arguments: { query: 'snow', limit: 3 } }],
  ],
  ['glm', 'a key closed twice', `<tool_call>look_up${K('query')}</arg_key>${V('snow')}</tool_call>`, [SNOW]],
  ['glm', 'a key closed as a value', `<tool_call>look_up<arg_key>query</arg_value>${V('snow')}</tool_call>`, [SNOW]],
  ['glm', 'a value closed as a key', `<tool_call>look_up${K('query')}<arg_value>snow</arg_key></tool_call>`, [SNOW]],
  ['glm', 'a value closed twice', `<tool_call>look_up${K('query')}${V('snow')}</arg_value></tool_call>`, [SNOW]],
  ['glm', 'closed by another family', `<tool_call>look_up${K('query')}${V('snow')}</invoke>`, [SNOW]],
  ['glm', 'never closed', `<tool_call>look_up\n${K('query')}\n${V('snow')}\n`, [SNOW]],
  ['glm', 'opened twice', `<tool_call><tool_call>look_up${K('query')}${V('snow')}</tool_call>`, [SNOW]],
  ['glm', 'line breaks escaped', `<tool_call>look_up\\n${K('query')}\\n${V('snow')}\\n</tool_call>`, [SNOW]],
  [
    'glm',
    'a closing tag in a value',
    `<tool_call>look_up${K('query')}${V('where </arg_value> goes')}</tool_call>`,
    [{ name: 'look_up', arguments: { query: 'where </arg_value> goes' } }],
  ],
  [
    'glm',
    'a call in a value',
    `<tool_call>look_up${K('query')}${V('<tool_call>clock</tool_call>')}</tool_call>`,
    [{ name: 'look_up', arguments: { query: '<tool_call>clock</tool_call>' } }],
  ],
  [
    'glm',
    'a number for a text',
    `<tool_call>look_up${K('query')}${V('007')}</tool_call>`,
    [{ name: 'look_up', arguments: { query: '007' } }],
  ],
  [
    'glm',
    'JSON for a text',
    `<tool_call>look_up${K('query')}${V('{"a": [1]}')}</tool_call>`,
    [{ name: 'look_up', arguments: { query: '{"a": [1]}' } }],
  ],
  [
    'glm',
    'three calls',
    `<tool_call>clock</tool_call>\n<tool_call>look_up${K('query')}${V('snow')}</tool_call>\n<tool_call>clock</tool_call>`,
    [CLOCK, SNOW, CLOCK],
  ],
]

/** Dialects and slips of the others. */
const OTHERS: readonly Special[] = [
  ['hermes', 'no closing tag', '<tool_call>\n{"name": "look_up", "arguments": {"query": "snow"}}', [SNOW]],
  ['hermes', 'arguments as a text', '<tool_call>{"name": "look_up", "arguments": "{\\"query\\": \\"snow\\"}"}</tool_call>', [SNOW]],
  [
    'hermes',
    'in a fence of its own',
    '<tool_call>\n```json\n{"name": "look_up", "arguments": {"query": "snow"}}\n```\n</tool_call>',
    [SNOW],
  ],
  ['qwen-coder', 'without its tag', '<function=look_up>\n<parameter=query>\nsnow\n</parameter>\n</function>', [SNOW]],
  [
    'qwen-coder',
    'no closing of a parameter',
    '<tool_call>\n<function=look_up>\n<parameter=query>\nsnow\n</function>\n</tool_call>',
    [SNOW],
  ],
  ['qwen-coder', 'seed', '<seed:tool_call>\n<function=look_up>\n<parameter=query>snow</parameter>\n</function>\n</seed:tool_call>', [SNOW]],
  [
    'invoke',
    'minimax',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="query">snow</parameter>\n</invoke>\n</minimax:tool_call>',
    [SNOW],
  ],
  ['invoke', 'without its tag', '<invoke name="look_up"><parameter name="query">snow</parameter></invoke>', [SNOW]],
  ['mistral', 'name first', '[TOOL_CALLS]look_up{"query": "snow"}', [SNOW]],
  ['mistral', 'with an id', '[TOOL_CALLS]look_up[CALL_ID]a1b2c3d4e[ARGS]{"query": "snow"}', [SNOW]],
  [
    'deepseek',
    'V3',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look_up\n```json\n{"query": "snow"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [SNOW],
  ],
  [
    'kimi',
    'without a section',
    '<|tool_call_begin|>functions.look_up:0<|tool_call_argument_begin|>{"query": "snow"}<|tool_call_end|>',
    [SNOW],
  ],
  ['harmony', 'tokens stripped', 'commentary to=functions.look_up json{"query": "snow"}', [SNOW]],
  ['gemma', 'FunctionGemma', '<start_function_call>call:look_up{query:<escape>snow<escape>}<end_function_call>', [SNOW]],
  ['llama3', 'a call in Python', '<|python_tag|>look_up.call(query="snow")', [SNOW]],
  ['granite', 'with an end', '<|tool_call|>[{"name": "look_up", "arguments": {"query": "snow"}}]<|end_of_text|>', [SNOW]],
  ['llama-json', 'on a line of its own', 'I will look.\n{"name": "look_up", "parameters": {"query": "snow"}}', [SNOW], 'I will look.'],
  ['pythonic', 'after a line', 'I will look.\n[look_up(query="snow")]', [SNOW], 'I will look.'],
]

const specials = [...GLM, ...OTHERS].map(
  ([family, name, raw, calls, text = '']): Row => ({ id: `${family}: ${name}`, family, raw, tools: TOOLS, calls, text }),
)

export const ROWS: readonly Row[] = [...scenes, ...specials]
