/** Apertus: `<|tools_prefix|>[{"name": {…arguments}}]<|tools_suffix|>`. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const apertus: Family = jsonBetween({
  id: 'apertus',
  openers: ['<|tools_prefix|>'],
  closers: ['<|tools_suffix|>'],
})
