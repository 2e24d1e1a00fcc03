/** Qwen3-Coder, Nemotron 3, Step 3.5 and, in a tag of its own, Seed-OSS: `<tool_call><function=f><parameter=k>v</parameter></function></tool_call>`. */
import type { Family } from '../family.ts'
import { elementReader } from '../syntax/elements.ts'

export const qwenCoder: Family = {
  id: 'qwen-coder',
  openers: ['<tool_call>', '<seed:tool_call>', '<function=', '<function name='],
  strong: true,
  read: elementReader({ call: 'function', wrappers: 'tool_calls?', prefix: '(?:seed:)?', lines: true, children: false }),
}
