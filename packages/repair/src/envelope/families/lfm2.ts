/** LFM2: `<|tool_call_start|>[f(path="x")]<|tool_call_end|>`, or JSON in the same place. */
import type { Family } from '../family.ts'
import { pythonBetween } from '../syntax/python-between.ts'

export const lfm2: Family = pythonBetween({
  id: 'lfm2',
  openers: ['<|tool_call_start|>'],
  closers: ['<|tool_call_end|>'],
  trailing: ['<|im_end|>'],
})
