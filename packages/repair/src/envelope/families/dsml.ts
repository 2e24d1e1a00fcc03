/** DeepSeek V3.2 and V4: `<｜DSML｜invoke name="f">` with the bars full width, or as they arrive from servers that do not keep them; GigaChat 3.5: `GCML`. */
import type { Family } from '../family.ts'
import { elementReader } from '../syntax/elements.ts'

const PREFIXES = ['｜DSML｜', '|DSML|', '｜GCML｜', '|GCML|']

export const dsml: Family = {
  id: 'dsml',
  openers: PREFIXES.flatMap((prefix) => [`<${prefix}function_calls>`, `<${prefix}tool_calls>`, `<${prefix}invoke`]),
  strong: true,
  read: elementReader({
    call: 'invoke',
    wrappers: 'function_calls|tool_calls?',
    prefix: '[｜|]{1,2}(?:DSML|GCML)[｜|]{1,2}',
    lines: false,
    children: false,
  }),
}
