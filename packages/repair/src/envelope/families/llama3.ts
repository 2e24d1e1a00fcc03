/** Llama 3: `<|python_tag|>` and JSON, several calls joined by `;`, or a call of a built-in tool, `f.call(query="x")`. */
import { skip } from '../../text.ts'
import type { Family } from '../family.ts'
import { readCalls } from '../syntax/call-text.ts'
import { closedBlock } from '../syntax/closers.ts'
import { readPythonCalls } from '../syntax/python.ts'

const TAG = '<|python_tag|>'
const ENDS = ['<|eom_id|>', '<|eot_id|>', '<|end_of_text|>']
const STOPS = [...ENDS, TAG]

export const llama3: Family = {
  id: 'llama3',
  openers: [TAG],
  read(source, at) {
    const from = skip(source.text, at + TAG.length)
    const isJson = '{['.includes(source.text[from] ?? ' ')
    const read = isJson ? readCalls(source, from, STOPS) : readPythonCalls(source, from, STOPS)
    const calls = read?.calls.map((call) => (isJson ? call : { ...call, name: call.name.replace(/\.call$/, '') }))
    return read && calls && closedBlock(source, calls, read, ENDS)
  },
}
