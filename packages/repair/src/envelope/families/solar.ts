/** Solar Open: `<|tool_call:begin|>id<|tool_call:name|>name<|tool_call:args|>{…}<|tool_call:end|>`. */
import type { Family } from '../family.ts'
import { readTokenCalls, type TokenGrammar } from '../syntax/token-calls.ts'

const HEADER = /[^<\n]{0,100}<\|tool_call:name\|>\s*([^<\n]{1,128}?)\s*<\|tool_call:args\|>/y

const GRAMMAR: TokenGrammar = {
  begin: ['<|tool_calls|>'],
  call: '<|tool_call:begin|>',
  callEnd: ['<|tool_call:end|>'],
  end: ['<|calls|>', '<|flush|>', '<|end|>'],
  header(text, at) {
    HEADER.lastIndex = at
    const name = HEADER.exec(text)?.[1]
    return name === undefined ? undefined : { name, end: HEADER.lastIndex }
  },
}

export const solar: Family = {
  id: 'solar',
  openers: [...GRAMMAR.begin, GRAMMAR.call],
  strong: true,
  read: (source, at) => readTokenCalls(source, at, GRAMMAR),
}
