/** openPangu: `[unused11][{…}][unused12]`, tokens of its vocabulary that never got a name. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const pangu: Family = jsonBetween({
  id: 'pangu',
  openers: ['[unused11]'],
  closers: ['[unused12]'],
})
