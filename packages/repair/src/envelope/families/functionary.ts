/** Functionary v3.1 and v2: the name of a tool alone on a line, and JSON under it. */
import type { Family } from '../family.ts'
import { readArguments } from '../syntax/call-text.ts'

const HEAD = /([^\s{]{1,128})[ \t]*\r?\n\s*(?=\{)/y

export const functionary: Family = {
  id: 'functionary',
  openers: [],
  afterName: ['{'],
  strong: false,
  read(source, at) {
    HEAD.lastIndex = at
    const name = HEAD.exec(source.text)?.[1]
    const read = name !== undefined && source.tools.exact(name) ? readArguments(source, HEAD.lastIndex, []) : undefined
    if (!read || name === undefined) return undefined
    return { calls: [{ name, arguments: read.arguments, ...(read.cut && { cutOff: true }) }], end: read.end, complete: !read.cut }
  },
}
