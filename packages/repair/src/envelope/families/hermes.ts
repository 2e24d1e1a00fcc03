/** Hermes, Qwen 2.5 and 3, Granite 4, ERNIE, EXAONE and many more: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const hermes: Family = jsonBetween({
  id: 'hermes',
  openers: ['<tool_call>', '<tools>', '<tool>', '<functioncall>', '<dots_function_call>'],
  closers: [
    '</tool_call>',
    '</tools>',
    '</tool>',
    '</functioncall>',
    '</dots_function_call>',
    '</function_call>',
    '</tool_calls>',
    '<tool_call|>',
    '<|/tool_call|>',
  ],
  trailing: ['<|im_end|>'],
})
