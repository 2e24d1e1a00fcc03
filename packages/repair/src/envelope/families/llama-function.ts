/** Llama 3.1 as its guide has it: `<function=name>{…}</function>`; smaller ones lose the `>`, or a slash. Parameters as tags are Qwen's. `<invoke name="f">{…}</invoke>` is the same in Claude's tags. */
import type { Family } from '../family.ts'
import { readArguments } from '../syntax/call-text.ts'
import { afterCloser, skip } from '../syntax/json-extent.ts'

const HEAD = /<(?:function=|invoke name=)["']?([\w.:/-]{1,128})["']?\s*>?\s*(?=\{)/y
const CLOSERS = ['</function>', '</invoke>', '<function>', '<|eom_id|>', '<|eot_id|>']
const OPENERS = ['<function=', '<invoke name=']
const STOPS = [...CLOSERS, ...OPENERS]

export const llamaFunction: Family = {
  id: 'llama-function',
  openers: OPENERS,
  strong: true,
  read(source, at) {
    const { text } = source
    HEAD.lastIndex = at
    const name = HEAD.exec(text)?.[1]
    const read = name !== undefined ? readArguments(source, HEAD.lastIndex, STOPS) : undefined
    if (!read || name === undefined) return undefined
    const calls = [{ name, arguments: read.arguments, ...(read.cut && { cutOff: true as const }) }]
    if (read.cut) return { calls, end: text.length, complete: false }
    const next = skip(text, read.end, ' \t\r\n}>')
    const closed = afterCloser(text, next, CLOSERS)
    return { calls, end: closed > next ? closed : read.end, complete: true }
  },
}
