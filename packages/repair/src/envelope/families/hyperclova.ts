/** HyperCLOVA X SEED: ` -> tool/function_call` in the place of a role, and a list of calls. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const hyperclova: Family = jsonBetween({
  id: 'hyperclova',
  openers: ['-> tool/function_call'],
  closers: ['<|im_end|>'],
})
