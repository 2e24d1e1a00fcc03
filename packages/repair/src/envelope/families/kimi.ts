/** Kimi K2: `functions.name:0` between tokens. The id has to stay in the history as it was, or the model loses its own numbering. */
import type { Family } from '../family.ts'
import { readTokenCalls, type TokenGrammar, type TokenHeader } from '../syntax/token-calls.ts'

const ARGUMENTS = '<|tool_call_argument_begin|>'
const HEADER = /\s*([^\s<{]{1,200})\s*/y
const NUMBER = /[:.]\d+$/

const GRAMMAR: TokenGrammar = {
  begin: ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>'],
  call: '<|tool_call_begin|>',
  callEnd: ['<|tool_call_end|>'],
  end: ['<|tool_calls_section_end|>', '<|tool_call_section_end|>', '<|im_end|>'],
  header: headerAt,
}

function headerAt(text: string, at: number): TokenHeader | undefined {
  HEADER.lastIndex = at
  const id = HEADER.exec(text)?.[1]
  const next = HEADER.lastIndex
  if (id === undefined) return undefined
  const name = id.replace(/^functions\./, '').replace(NUMBER, '')
  const known = { name, ...(NUMBER.test(id) && { id }) }
  if (text.startsWith(ARGUMENTS, next)) return { ...known, end: next + ARGUMENTS.length }
  return text[next] === '{' ? { ...known, end: next, damage: 'the token before the arguments was missing' } : undefined
}

export const kimi: Family = {
  id: 'kimi',
  openers: [...GRAMMAR.begin, GRAMMAR.call],
  strong: true,
  read: (source, at) => readTokenCalls(source, at, GRAMMAR),
}
