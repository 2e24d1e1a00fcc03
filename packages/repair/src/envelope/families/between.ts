/** Families that write JSON, or calls in Python notation, between two tags. */

import { readPython } from '../syntax/bare-calls.ts'
import { between } from '../syntax/between.ts'

/** Apertus: `<|tools_prefix|>[{"name": {…arguments}}]<|tools_suffix|>`. */
export const apertus = /* @__PURE__ */ between('apertus', ['<|tools_prefix|>'], ['<|tools_suffix|>'])

/** Command R7B and A: `<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]<|END_ACTION|>`. */
export const cohere = /* @__PURE__ */ between('cohere', ['<|START_ACTION|>'], ['<|END_ACTION|>'], { trailing: ['<|END_OF_TURN_TOKEN|>'] })

/** Command R and R+: `Action:` and a fence with a list of calls. Anybody may write this word, so the names decide. */
export const commandR = /* @__PURE__ */ between('command-r', ['Action:'], ['<|END_OF_TURN_TOKEN|>', '<|END_ACTION|>'], {
  head: /Action:(?=\s*(?:```(?:json)?\s*)?\[?\s*\{)/y,
  exact: true,
})

/** Phi-4 mini and FireFunction: `functools[{"name": …, "arguments": {…}}]`. None of it is a token, so the names decide. */
export const functools = /* @__PURE__ */ between('functools', ['functools['], ['<|end|>', '<|im_end|>'], {
  head: /functools(?=\[)/y,
  exact: true,
})

/** GigaChat 3: a message with the role `function call`, or `<|function_call|>`, and the JSON of the call. */
export const gigachat = /* @__PURE__ */ between(
  'gigachat',
  ['<|message_sep|>', '<|function_call|>', 'function call<|role_sep|>'],
  ['<|message_sep|>', '</s>'],
  { head: /(?:<\|message_sep\|>\s*)?function call\s*<\|role_sep\|>|<\|function_call\|>/y },
)

/** Granite 3 and Phi-4 mini: `<|tool_call|>[{…}]`, with or without an end; Granite 20B: `<function_call> {…}`. */
export const granite = /* @__PURE__ */ between(
  'granite',
  ['<|tool_call|>', '<function_call>'],
  ['<|/tool_call|>', '</|tool_call|>', '<|tool_call_end|>', '</tool_call>', '</function_call>'],
  { trailing: ['<|end_of_text|>', '<|end|>'] },
)

/** Hermes, Qwen 2.5 and 3, Granite 4, ERNIE, EXAONE and many others: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. */
export const hermes = /* @__PURE__ */ between(
  'hermes',
  ['<tool_call>', '<tools>', '<tool>', '<functioncall>', '<dots_function_call>'],
  [
    ...['</tool_call>', '</tools>', '</tool>', '</functioncall>', '</dots_function_call>', '</function_call>', '</tool_calls>'],
    ...['<tool_call|>', '<|/tool_call|>'],
  ],
  { trailing: ['<|im_end|>'] },
)

/** HyperCLOVA X SEED: ` -> tool/function_call` in place of a role, and a list of calls. */
export const hyperclova = /* @__PURE__ */ between('hyperclova', ['-> tool/function_call'], ['<|im_end|>'])

/** InternLM 2: `<|action_start|><|plugin|>{…}<|action_end|>`. Its code interpreter is not a tool. */
export const internlm2 = /* @__PURE__ */ between('internlm2', ['<|action_start|>'], ['<|action_end|>'], {
  head: /<\|action_start\|>\s*<\|plugin\|>/y,
  trailing: ['<|im_end|>'],
})

/**
 * K2 Horizon with JSON: `<ifm|tool_calls><ifm|tool_call>{…}</ifm|tool_call></ifm|tool_calls>`. The Hunyuan family reads its form with
 * keys and values.
 */
export const k2Horizon = /* @__PURE__ */ between('k2-horizon', ['<ifm|tool_calls>', '<ifm|tool_call>'], ['</ifm|tool_call>'], {
  head: /(?:<ifm\|tool_calls>\s*)?<ifm\|tool_call>/y,
  trailing: ['</ifm|tool_calls>'],
})

/** LongCat: `<longcat_tool_call>{…}</longcat_tool_call>`. */
export const longcat = /* @__PURE__ */ between('longcat', ['<longcat_tool_call>'], ['</longcat_tool_call>', '</tool_call>'])

/** Nemotron v2: `<TOOLCALL>[…]</TOOLCALL>`, followed by its end-of-turn token. */
export const nemotron = /* @__PURE__ */ between('nemotron', ['<TOOLCALL>'], ['</TOOLCALL>'], { trailing: ['<SPECIAL_12>'] })

/** openPangu: `[unused11][{…}][unused12]`, unnamed tokens of its vocabulary. */
export const pangu = /* @__PURE__ */ between('pangu', ['[unused11]'], ['[unused12]'])

/** RWKV: `**Tool Call:**` and a fence with the call. Anybody may write this, so the names decide. */
export const rwkv = /* @__PURE__ */ between('rwkv', ['**Tool Call:**'], [], {
  head: /\*\*Tool Call:\*\*(?=\s*```(?:json)?\s*\[?\s*\{)/y,
  exact: true,
})

/** MiniMax M1, Hunyuan A13B, Apriel, Jamba: `<tool_calls>` around a JSON list or one object per line. */
export const toolCalls = /* @__PURE__ */ between('tool-calls', ['<tool_calls>'], ['</tool_calls>', '</tool_call>'])

/** LFM2: `<|tool_call_start|>[f(path="x")]<|tool_call_end|>`, or JSON in the same place. */
export const lfm2 = /* @__PURE__ */ between('lfm2', ['<|tool_call_start|>'], ['<|tool_call_end|>'], {
  trailing: ['<|im_end|>'],
  other: readPython,
})

/** Llama 4: `<|python_start|>[f(x="y")]<|python_end|>`. */
export const llama4 = /* @__PURE__ */ between('llama4', ['<|python_start|>'], ['<|python_end|>'], {
  trailing: ['<|eom|>', '<|eot|>'],
  other: readPython,
})

/** OLMo 3: `<function_calls>` around calls in Python notation, one per line. */
export const olmo = /* @__PURE__ */ between('olmo', ['<function_calls>'], ['</function_calls>'], { other: readPython })

/** Calls in Python notation in the Hermes tag: `<tool_call>f(x="y")</tool_call>`. Anybody may write this tag, so the names decide. */
export const pythonicTags = /* @__PURE__ */ between('pythonic-tags', ['<tool_call>', '<tools>'], ['</tool_call>', '</tools>'], {
  trailing: ['<|im_end|>'],
  exact: true,
  other: readPython,
})

/** Gemma 2 and 3: calls in a special fence, ```` ```tool_code ````. Anybody may write this, so the names decide. */
export const toolCode = /* @__PURE__ */ between('tool-code', ['```tool_code', '```tool_call'], ['```'], { exact: true, other: readPython })
