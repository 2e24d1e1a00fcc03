/** K2 Horizon with JSON: `<ifm|tool_calls><ifm|tool_call>{…}</ifm|tool_call></ifm|tool_calls>`. With keys and values it is Hunyuan's. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const k2Horizon: Family = jsonBetween({
  id: 'k2-horizon',
  openers: ['<ifm|tool_calls>', '<ifm|tool_call>'],
  head: /(?:<ifm\|tool_calls>\s*)?<ifm\|tool_call>/y,
  closers: ['</ifm|tool_call>'],
  trailing: ['</ifm|tool_calls>'],
})
