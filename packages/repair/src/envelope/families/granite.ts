/** Granite 3 and Phi-4 mini: `<|tool_call|>[{…}]`, with or without an end; Granite 20B: `<function_call> {…}`. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const granite: Family = jsonBetween({
  id: 'granite',
  openers: ['<|tool_call|>', '<function_call>'],
  closers: ['<|/tool_call|>', '</|tool_call|>', '<|tool_call_end|>', '</tool_call>', '</function_call>'],
  trailing: ['<|end_of_text|>', '<|end|>'],
})
