/** Replies with calls in the text, by family: as their templates write them, and damaged. */
import type { ToolSpec } from '../tool-spec.ts'
import { familyOf, WRITERS, type Written } from './canonical-calls.fixture.ts'

export interface Row {
  readonly id: string
  readonly family: string
  readonly raw: string
  readonly tools: readonly ToolSpec[]
  readonly calls: readonly Written[]
  /** The remaining text, trimmed. */
  readonly text: string
}

const tool = (name: string, types: Readonly<Record<string, string>>): ToolSpec => ({
  name,
  parameters: { type: 'object', properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }])) },
  effect: 'read',
})

/** All tools are reads, so nothing is refused for its effect. */
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

const scenes = Object.entries(WRITERS).flatMap(([writer, write]) =>
  SCENES.map(
    ([name, calls, around, text]): Row => ({
      id: `${writer}: ${name}`,
      family: familyOf(writer),
      raw: around(write(calls)),
      tools: TOOLS,
      calls,
      text,
    }),
  ),
)

const K = (key: string): string => `<arg_key>${key}</arg_key>`
const V = (value: string): string => `<arg_value>${value}</arg_value>`
const SNOW: Written = { name: 'look_up', arguments: { query: 'snow' } }
const CLOCK: Written = { name: 'clock', arguments: {} }

type Special = readonly [family: string, name: string, raw: string, calls: readonly Written[], text?: string]

/** GLM, including output damaged by servers and quantisation. */
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

/** Dialects and slips of the other families. */
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
  ['pythonic-tags', 'a name and JSON', '<tool_call>look_up\n{"query": "snow"}\n</tool_call>', [SNOW]],
  ['pythonic-tags', 'words for themselves', '<tool_call>look_up(query: snow)</tool_call>', [SNOW]],
  ['llama-function', "in Claude's tags", '<invoke name="look_up">{"query": "snow"}</invoke>', [SNOW]],
  ['hermes', 'quotes of both kinds', `<tool_call>\n{"arguments": {'query': 'snow'}, "name": 'look_up'}\n</tool_call>`, [SNOW]],
  ['hermes', 'no closing brackets', '<tool_call>\n{"name": "look_up", "arguments": {"query": "snow"\n</tool_call>', [SNOW]],
  [
    'hermes',
    'two in one tag',
    '<tool_call>{"name": "clock", "arguments": {}}\n{"name": "clock", "arguments": {}}</tool_call>',
    [CLOCK, CLOCK],
  ],
  [
    'hermes',
    'words after it',
    `<tool_call>{"name": "clock", "arguments": {}}</tool_call>\n\nI am sorry, but what it says is all that I can tell you here today.`,
    [CLOCK],
    'I am sorry, but what it says is all that I can tell you here today.',
  ],
  [
    'hermes',
    "Gemma's quotes in a value",
    '<tool_call>{"name": "look_up", "arguments": {"query": "<|\\"|>snow<|\\"|>"}}</tool_call>',
    [SNOW],
  ],
  ['gemma', 'single quotes', "<|tool_call>call:look_up{query:'snow'}<tool_call|>", [SNOW]],
  ['gemma', 'quotes inside quotes', '<|tool_call>call:look_up{query:"<|"|>snow<|"|>"}<tool_call|>', [SNOW]],
  ['gemma', 'a quote closed by another', '<|tool_call>call:look_up{query:<|"|>snow"}<tool_call|>', [SNOW]],
  ['granite', 'with an end', '<|tool_call|>[{"name": "look_up", "arguments": {"query": "snow"}}]<|end_of_text|>', [SNOW]],
  ['bare', 'on a line of its own', 'I will look.\n{"name": "look_up", "parameters": {"query": "snow"}}', [SNOW], 'I will look.'],
  ['bare', 'after a line', 'I will look.\n[look_up(query="snow")]', [SNOW], 'I will look.'],
]

const JSON_CALL = '{"name": "look_up", "arguments": {"query": "snow"}}'
const both = [SNOW, CLOCK]

/** Replies that consist only of calls, and calls with the model's own words before or after them on the same line. */
const BARE: readonly (readonly [name: string, raw: string, calls: readonly Written[], text?: string])[] = [
  ['a call in Python', 'look_up(query="snow")', [SNOW]],
  ['behind white space', '\n\n   look_up(query="snow")\n', [SNOW]],
  ['several with semicolons', 'look_up(query="snow"); clock()', both],
  ['several with commas', 'look_up(query="snow"), clock()', both],
  ['several on lines', 'look_up(query="snow")\nclock()', both],
  ['a list of texts', `["look_up(query='snow')", "clock()"]`, both],
  ['a list of texts with single quotes', `['look_up(query="snow")', 'clock()']`, both],
  ['a text that holds a list', `"[look_up(query='snow')]"`, [SNOW]],
  ['tool_calls', `{"tool_calls": [${JSON_CALL}]}`, [SNOW]],
  ['tool_calls as OpenAI has them', `{"tool_calls": [{"id": "1", "type": "function", "function": ${JSON_CALL}}]}`, [SNOW]],
  ['a Python dict', `{'name': 'look_up', 'arguments': {'query': 'snow'}}`, [SNOW]],
  ['a list of Python dicts', `[{'name': 'look_up', 'parameters': {'query': 'snow'}}, {'name': 'clock', 'parameters': {}}]`, both],
  ['a Python dict with True', `[{'name': 'open_page', 'arguments': {'path': 'a/b c.md', 'raw': True}}]`, [OTHER]],
  ['params', `[{"name": "look_up", "params": {"query": "snow"}}]`, [SNOW]],
  ['args', `{"name": "look_up", "args": {"query": "snow"}}`, [SNOW]],
  ['a name and JSON', 'look_up {"query": "snow"}', [SNOW]],
  ['a name, a colon and JSON', 'look_up: {"query": "snow"}', [SNOW]],
  ['an argument that is a word', 'look_up(query=snow)', [SNOW]],
  ['a colon in the place of the sign', 'look_up(query: snow)', [SNOW]],
  ['a fence', `\`\`\`\n${JSON_CALL}\n\`\`\``, [SNOW]],
  ['a fence of JSON', `\`\`\`json\n${JSON_CALL}\n\`\`\`\n`, [SNOW]],
  ['a fence of Python', '```python\n[look_up(query="snow"), clock()]\n```', both],
  ['a fence of xml', '```xml\nlook_up(query="snow")\n```', [SNOW]],
  ['a fence without lines', '```[look_up(query="snow")]```', [SNOW]],
  ['a fence that is not closed', `\`\`\`json\n${JSON_CALL}`, [SNOW]],
  ['two fences', '```\nlook_up(query="snow")\n```\n```\nclock()\n```', both],
  ['inline code', '`look_up(query="snow")`', [SNOW]],
  ['bold', '**look_up(query="snow")**', [SNOW]],
  ['a name escaped for Markdown', 'look\\_up(query="snow")', [SNOW]],
  ['a name escaped for Markdown, in JSON', JSON_CALL.replace('look_up', 'look\\_up'), [SNOW]],
  ['a prefix', 'functions.look_up(query="snow")', [SNOW]],
  ['a closing tag', `${JSON_CALL}\n</tool_call>`, [SNOW]],
  ['closing tags between', `${JSON_CALL}\n</tool_call>\n<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>`, both],
  ['a closing tag of another family', `[${JSON_CALL}]</TOOLCALL>`, [SNOW]],
  ['a closing tag, and an end', `${JSON_CALL}</function_call><|im_end|>`, [SNOW]],
  ['the body of Gemma', 'call:look_up{query:<|"|>snow<|"|>}<tool_call|>', [SNOW]],
  ['another token for the tag', `<|im_start|>\n${JSON_CALL}\n<|im_end|>`, [SNOW]],
  ['another token for the tag, after words', `Let me see.\n<|im_start|>\n${JSON_CALL}\n</tool_call>`, [SNOW], 'Let me see.'],
  [
    'words on the same line',
    '[look_up(query="snow")]Looking for snow in all that was written.',
    [SNOW],
    'Looking for snow in all that was written.',
  ],
  ['few words under it', '[look_up(query="snow")]\n\nLooking.', [SNOW], 'Looking.'],
  ['after a sentence', 'I will look. [look_up(query="snow")]', [SNOW], 'I will look.'],
  ['after a colon', 'I look: [look_up(query="snow"), clock()]', both, 'I look:'],
  ['after reasoning, as Python', '<think>\nSnow.\n</think>\nlook_up(query="snow")', [SNOW]],
]

const specials = [...GLM, ...OTHERS, ...BARE.map((row): Special => ['bare', ...row])].map(
  ([family, name, raw, calls, text = '']): Row => ({ id: `${family}: ${name}`, family, raw, tools: TOOLS, calls, text }),
)

export const ROWS: readonly Row[] = [...scenes, ...specials]
