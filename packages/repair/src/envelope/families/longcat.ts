/** LongCat: `<longcat_tool_call>{…}</longcat_tool_call>`. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const longcat: Family = jsonBetween({
  id: 'longcat',
  openers: ['<longcat_tool_call>'],
  closers: ['</longcat_tool_call>', '</tool_call>'],
})
