/** Phi-4 mini and FireFunction: `functools[{"name": …, "arguments": {…}}]`. Nothing about it is a token, so the names decide. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const functools: Family = jsonBetween({
  id: 'functools',
  openers: ['functools['],
  head: /functools(?=\[)/y,
  closers: ['<|end|>', '<|im_end|>'],
  exact: true,
})
