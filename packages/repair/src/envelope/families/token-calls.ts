/** Families that write a call's name between tokens and then the JSON of its arguments. */
import { matchAt } from '../../text.ts'
import { headedCall, type TokenHeader, tokenCalls } from '../syntax/token-calls.ts'

const KIMI_HEADER = /\s*((?:functions\.)?([^\s<{]{1,200}?)([:.]\d+)?)\s*(<\|tool_call_argument_begin\|>|(?=\{))/y

/** Kimi K2: `functions.name:0` between tokens. The id must stay unchanged in the history, or the model loses track of its own numbering. */
export const kimi = /* @__PURE__ */ tokenCalls('kimi', {
  begin: ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>'],
  call: '<|tool_call_begin|>',
  callEnd: ['<|tool_call_end|>'],
  end: ['<|tool_calls_section_end|>', '<|tool_call_section_end|>', '<|im_end|>'],
  header(text, at) {
    const found = matchAt(KIMI_HEADER, text, at)
    if (!found) return undefined
    const [whole, id = '', name = '', number, token] = found
    const damage = token === '' && { damage: 'the token before the arguments was missing' }
    return { name, ...(number !== undefined && { id }), ...damage, end: at + whole.length }
  },
})

/** Solar Open: `<|tool_call:begin|>id<|tool_call:name|>name<|tool_call:args|>{…}<|tool_call:end|>`. */
export const solar = /* @__PURE__ */ tokenCalls('solar', {
  begin: ['<|tool_calls|>'],
  call: '<|tool_call:begin|>',
  callEnd: ['<|tool_call:end|>'],
  end: ['<|calls|>', '<|flush|>', '<|end|>'],
  header: /[^<\n]{0,100}<\|tool_call:name\|>\s*([^<\n]{1,128}?)\s*<\|tool_call:args\|>/y,
})

const plamoToken = (name: string): string => `<|plamo:${name}:plamo|>`

/** PLaMo 3: `<|plamo:begin_tool_request:plamo|>`, then the name and the JSON of the arguments in similar tags. */
export const plamo = /* @__PURE__ */ tokenCalls('plamo', {
  begin: [plamoToken('begin_tool_requests')],
  call: plamoToken('begin_tool_request'),
  callEnd: ['end_tool_arguments:plamo|><|plamo:end_tool_request', 'end_tool_arguments', 'end_tool_request'].map(plamoToken),
  end: [plamoToken('end_tool_requests'), '<|plamo:tag|>', '<|plamo:eot|>'],
  header:
    /\s*<\|plamo:begin_tool_name:plamo\|>\s*([^<>\s]{1,128})\s*<\|plamo:end_tool_name:plamo\|>\s*<\|plamo:begin_tool_arguments:plamo\|>\s*(?:<\|plamo:msg\|>)?/y,
})

const DEEPSEEK_NAME = /\s*(?:function\s*(?=\S))?([\w.:/-]{1,128})[ \t]*(?=\r?\n|```|\{|$)/y

function deepseekHeader(text: string, at: number, separator: string): TokenHeader | undefined {
  const nameAt = (from: number, damage?: string): TokenHeader | undefined => {
    const found = matchAt(DEEPSEEK_NAME, text, from)
    const end = from + (found?.[0].length ?? 0)
    if (!found?.[1] || (damage !== undefined && end === text.length)) return undefined
    return { name: found[1], end, ...(damage !== undefined && { damage }) }
  }
  const near = text.slice(at, at + 300)
  const mark = near.indexOf(separator)
  const before = near.slice(0, Math.max(mark, 0)).trim()
  if (mark === -1 || /[\n{]/.test(before)) return nameAt(at, 'the separator before the arguments was missing')
  const after = at + mark + separator.length
  const isName = before !== '' && (before !== 'function' || /^\s*\{/.test(text.slice(after, after + 16)))
  return isName ? { name: before, end: after } : nameAt(after)
}

/**
 * DeepSeek with tokens. V3 and R1: `function<｜tool▁sep｜>name` and a fence; V3.1: `name<｜tool▁sep｜>{…}`. Tokens altered by another
 * tokenizer have ASCII bars, underscores or spaces.
 */
export const deepseek = /* @__PURE__ */ tokenCalls(
  'deepseek',
  ...['｜', '|'].flatMap((bar) =>
    ['▁', '_', ' '].map((gap) => {
      const token = (name: string): string => `<${bar}${name.replaceAll(' ', gap)}${bar}>`
      return {
        begin: [token('tool calls begin')],
        call: token('tool call begin'),
        callEnd: [token('tool call end')],
        end: [token('tool calls end'), token('end of sentence')],
        header: (text: string, at: number) => deepseekHeader(text, at, token('tool sep')),
      }
    }),
  ),
)

/** Functionary v3.2: `>>>name`, with JSON below it. `>>>all` is the answer itself. */
export const functionaryV3 = /* @__PURE__ */ headedCall('functionary-v3', ['>>>'], {
  head: /\s*>>>([A-Za-z_][\w.:/-]{0,127})[ \t]*\r?\n\s*(?=\{)/y,
  stops: ['<|eot_id|>', '<|end_of_text|>'],
  known: true,
})

/**
 * Llama 3.1 as described in its guide: `<function=name>{…}</function>`. Smaller models drop the `>` or a slash. The `qwenCoder` family
 * reads parameters in tags. `<invoke name="f">{…}</invoke>` is the same in Claude's tags.
 */
export const llamaFunction = /* @__PURE__ */ headedCall('llama-function', ['<function=', '<invoke name='], {
  head: /<(?:function=|invoke name=)["']?([\w.:/-]{1,128})["']?\s*>?\s*(?=\{)/y,
  closers: ['</function>', '</invoke>', '<function>', '<|eom_id|>', '<|eot_id|>'],
})
