/** Command R and R+: `Action:` and a fence with a list of calls. The word is anybody's, so the names decide. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const commandR: Family = jsonBetween({
  id: 'command-r',
  openers: ['Action:'],
  head: /Action:(?=\s*(?:```(?:json)?\s*)?\[?\s*\{)/y,
  closers: ['<|END_OF_TURN_TOKEN|>', '<|END_ACTION|>'],
  exact: true,
})
