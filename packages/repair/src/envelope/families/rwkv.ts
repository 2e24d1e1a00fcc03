/** RWKV: `**Tool Call:**` and a fence with the call. Anybody can write one, so the names decide. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const rwkv: Family = jsonBetween({
  id: 'rwkv',
  openers: ['**Tool Call:**'],
  head: /\*\*Tool Call:\*\*(?=\s*```(?:json)?\s*\[?\s*\{)/y,
  closers: [],
  exact: true,
})
