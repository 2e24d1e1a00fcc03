/** Llama 3: `<|python_tag|>` and JSON, several joined by `;`, or a call of a built-in tool, `f.call(query="x")`. */
import type { Family } from '../family.ts'
import { readCalls } from '../syntax/call-text.ts'
import { afterCloser, skip } from '../syntax/json-extent.ts'
import { readPythonCalls } from '../syntax/python-call.ts'

const TAG = '<|python_tag|>'
const ENDS = ['<|eom_id|>', '<|eot_id|>', '<|end_of_text|>']
const STOPS = [...ENDS, TAG]

export const llama3: Family = {
  id: 'llama3',
  openers: [TAG],
  strong: true,
  read(source, at) {
    const { text } = source
    const from = skip(text, at + TAG.length)
    const json = text[from] === '{' || text[from] === '['
    const read = json ? readCalls(source, from, STOPS) : readPythonCalls(source, from, STOPS)
    if (!read) return undefined
    const calls = json ? read.calls : read.calls.map((call) => ({ ...call, name: call.name.replace(/\.call$/, '') }))
    if (!read.whole) return { calls, end: read.end, complete: false }
    const next = skip(text, read.end)
    const closed = afterCloser(text, next, ENDS)
    return { calls, end: closed > next ? closed : read.end, complete: true }
  },
}
