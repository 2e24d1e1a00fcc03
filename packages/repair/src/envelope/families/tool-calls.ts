/** MiniMax M1, Hunyuan A13B, Apriel, Jamba: `<tool_calls>` around a JSON list or one object a line. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const toolCalls: Family = jsonBetween({
  id: 'tool-calls',
  openers: ['<tool_calls>'],
  closers: ['</tool_calls>', '</tool_call>'],
})
