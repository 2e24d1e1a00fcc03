/** PLaMo 3: `<|plamo:begin_tool_request:plamo|>`, the name and the JSON of the arguments in tags of the same make. */
import type { Family } from '../family.ts'
import { readTokenCalls, type TokenGrammar } from '../syntax/token-calls.ts'

const token = (name: string): string => `<|plamo:${name}:plamo|>`
const HEADER = new RegExp(
  ['begin_tool_name', '', 'end_tool_name', 'begin_tool_arguments']
    .map((name) => (name === '' ? String.raw`\s*([^<>\s]{1,128})` : String.raw`\s*<\|plamo:${name}:plamo\|>`))
    .join('') + String.raw`\s*(?:<\|plamo:msg\|>)?`,
  'y',
)

const ARGUMENTS_END = token('end_tool_arguments')
const REQUEST_END = token('end_tool_request')

const GRAMMAR: TokenGrammar = {
  begin: [token('begin_tool_requests')],
  call: token('begin_tool_request'),
  callEnd: [`${ARGUMENTS_END}${REQUEST_END}`, ARGUMENTS_END, REQUEST_END],
  end: [token('end_tool_requests'), '<|plamo:tag|>', '<|plamo:eot|>'],
  header(text, at) {
    HEADER.lastIndex = at
    const name = HEADER.exec(text)?.[1]
    return name === undefined ? undefined : { name, end: HEADER.lastIndex }
  },
}

export const plamo: Family = {
  id: 'plamo',
  openers: [...GRAMMAR.begin, GRAMMAR.call],
  strong: true,
  read: (source, at) => readTokenCalls(source, at, GRAMMAR),
}
