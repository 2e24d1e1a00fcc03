/** Claude's notation, MiniMax M2 and dots, which have it in a tag of their own: `<function_calls><invoke name="f"><parameter name="k">v</parameter></invoke></function_calls>`. */
import type { Family } from '../family.ts'
import { elementReader } from '../syntax/elements.ts'

const PREFIXES = ['', 'antml:', 'atem:']
const WRAPPERS = ['function_calls', 'minimax:tool_call', 'tool_call', 'tool_calls', 'dots_function_call']

export const invoke: Family = {
  id: 'invoke',
  precedence: 2,
  openers: [
    ...PREFIXES.flatMap((prefix) => [`<${prefix}function_calls>`, `<${prefix}invoke name=`]),
    ...WRAPPERS.slice(1).map((name) => `<${name}>`),
  ],
  strong: true,
  read: elementReader({
    call: 'invoke',
    wrappers: 'function_calls|tool_calls?|dots_function_call',
    prefix: '(?:[a-z]{1,16}:)?',
    lines: false,
    children: true,
  }),
}
