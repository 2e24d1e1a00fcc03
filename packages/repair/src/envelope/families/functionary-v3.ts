/** Functionary v3.2: `>>>name`, and JSON under it. `>>>all` is the answer itself. */
import type { Family } from '../family.ts'
import { readArguments } from '../syntax/call-text.ts'

const HEAD = /\s*>>>([A-Za-z_][\w.:/-]{0,127})[ \t]*\r?\n\s*(?=\{)/y
const STOPS = ['>>>', '<|eot_id|>', '<|end_of_text|>']

export const functionaryV3: Family = {
  id: 'functionary-v3',
  openers: ['>>>'],
  strong: true,
  read(source, at) {
    HEAD.lastIndex = at
    const name = HEAD.exec(source.text)?.[1]
    const read = name !== undefined && source.tools.resolve(name) ? readArguments(source, HEAD.lastIndex, STOPS) : undefined
    if (!read || name === undefined) return undefined
    return { calls: [{ name, arguments: read.arguments, ...(read.cut && { cutOff: true }) }], end: read.end, complete: !read.cut }
  },
}
