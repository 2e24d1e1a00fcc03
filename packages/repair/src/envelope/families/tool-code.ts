/** Gemma 2 and 3: calls in a fence of their own, ```` ```tool_code ````. Anybody can write one, so the names decide. */
import type { Family } from '../family.ts'
import { pythonBetween } from '../syntax/python-between.ts'

export const toolCode: Family = pythonBetween({
  id: 'tool-code',
  openers: ['```tool_code', '```tool_call'],
  closers: ['```'],
  exact: true,
})
