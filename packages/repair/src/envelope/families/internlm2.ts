/** InternLM 2: `<|action_start|><|plugin|>{…}<|action_end|>`. Its interpreter, which runs code, is no tool. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const internlm2: Family = jsonBetween({
  id: 'internlm2',
  openers: ['<|action_start|>'],
  head: /<\|action_start\|>\s*<\|plugin\|>/y,
  closers: ['<|action_end|>'],
  trailing: ['<|im_end|>'],
})
