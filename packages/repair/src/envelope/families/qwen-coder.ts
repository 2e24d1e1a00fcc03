/** Qwen3-Coder, Nemotron 3, Step 3.5, MiniCPM 5 and, in a tag of its own, Seed-OSS: `<tool_call><function=f><parameter=k>v</parameter></function></tool_call>`. */
import type { Family } from '../family.ts'
import { elementReader } from '../syntax/elements.ts'

const SPELLING = { call: 'function', wrappers: 'tool_calls?', children: false } as const
const read = elementReader({ ...SPELLING, prefix: '(?:seed:)?', lines: true })
/** Seed-OSS has its values on the line of their tags. */
const readSeed = elementReader({ ...SPELLING, prefix: '(?:seed:)?', lines: 'both' })

export const qwenCoder: Family = {
  id: 'qwen-coder',
  precedence: 3,
  openers: ['<tool_call>', '<seed:tool_call>', '<function=', '<function name=', '<functionname=', '<functionĠname='],
  strong: true,
  read: (source, at) => (source.text.startsWith('<seed:', at) ? readSeed(source, at) : read(source, at)),
}
