/** xLAM: its list of calls in a code fence. Anybody's example looks the same, so it counts as little as bare JSON does. */
import type { Family } from '../family.ts'
import { sticky } from '../syntax/json-between.ts'
import { skip } from '../syntax/json-extent.ts'
import { readBareCalls } from './llama-json.ts'

const FENCE = /```(?:json|tool_calls?)?\s*/y

export const xlam: Family = {
  id: 'xlam',
  openers: ['```json', '```\n', '```tool_call'],
  strong: false,
  read(source, at) {
    const { text } = source
    const from = sticky(FENCE, text, at)
    const block = from === at ? undefined : readBareCalls(source, from)
    if (!block?.complete) return block
    const end = skip(text, block.end)
    if (end === text.length) return { ...block, end }
    return text.startsWith('```', end) ? { ...block, end: end + 3 } : undefined
  },
}
