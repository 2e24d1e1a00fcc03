/** Command R7B and A: `<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]<|END_ACTION|>`. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const cohere: Family = jsonBetween({
  id: 'cohere',
  openers: ['<|START_ACTION|>'],
  closers: ['<|END_ACTION|>'],
  trailing: ['<|END_OF_TURN_TOKEN|>'],
})
