/** GigaChat 3: a message of the role `function call`, or `<|function_call|>`, and the JSON of the call. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const gigachat: Family = jsonBetween({
  id: 'gigachat',
  openers: ['<|message_sep|>', '<|function_call|>', 'function call<|role_sep|>'],
  head: /(?:<\|message_sep\|>\s*)?function call\s*<\|role_sep\|>|<\|function_call\|>/y,
  closers: ['<|message_sep|>', '</s>'],
})
