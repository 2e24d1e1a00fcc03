/** Llama 4: `<|python_start|>[f(x="y")]<|python_end|>`. */
import type { Family } from '../family.ts'
import { pythonBetween } from '../syntax/python-between.ts'

export const llama4: Family = pythonBetween({
  id: 'llama4',
  openers: ['<|python_start|>'],
  closers: ['<|python_end|>'],
  trailing: ['<|eom|>', '<|eot|>'],
})
