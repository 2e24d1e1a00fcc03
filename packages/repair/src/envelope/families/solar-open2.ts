/** Solar Open 2: `<|tool_call:start|>f`, `<|tool_arg:start|>k<|tool_arg:value|>v<|tool_arg:end|>`, `<|tool_call:end|>`. */
import type { Family } from '../family.ts'
import { type PairGrammar, readTokenPairs } from '../syntax/token-pairs.ts'

const OPENER = '<|tool_call:start|>'

const GRAMMAR: PairGrammar = {
  call: /<\|tool_call:start\|>[ \t]*([^\s<>|]{1,128})(?=\s|<\||$)/y,
  callEnd: /<\|tool_call:end\|>/y,
  parameter: /<\|tool_arg:start\|>\s*([^\s<>|]{1,128})\s*<\|tool_arg:value\|>/y,
  valueEnds: ['<|tool_arg:end|>'],
  stops: ['<|tool_call:end|>', OPENER, '<|tool_arg:start|>'],
}

export const solarOpen2: Family = {
  id: 'solar-open2',
  openers: [OPENER],
  strong: true,
  read: (source, at) => readTokenPairs(source, at, GRAMMAR),
}
