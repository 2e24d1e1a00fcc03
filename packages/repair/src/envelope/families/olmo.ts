/** OLMo 3: `<function_calls>` around calls in Python's notation, one a line. */
import type { Family } from '../family.ts'
import { pythonBetween } from '../syntax/python-between.ts'

export const olmo: Family = pythonBetween({
  id: 'olmo',
  openers: ['<function_calls>'],
  closers: ['</function_calls>'],
})
