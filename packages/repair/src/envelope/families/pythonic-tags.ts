/** Calls in Python's notation in the tag of Hermes: `<tool_call>f(x="y")</tool_call>`. The tag is anybody's there, so the names decide. */
import type { Family } from '../family.ts'
import { pythonBetween } from '../syntax/python-between.ts'

export const pythonicTags: Family = pythonBetween({
  id: 'pythonic-tags',
  openers: ['<tool_call>', '<tools>'],
  closers: ['</tool_call>', '</tools>'],
  trailing: ['<|im_end|>'],
  exact: true,
})
