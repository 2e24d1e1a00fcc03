/** Llama 3.2 and 4, xLAM, Gemma and others without markup: `[f(x="y"), g()]`. */
import type { Family } from '../family.ts'
import { readPythonCalls } from '../syntax/python-call.ts'

const BEGINS = /\[\s*([A-Za-z_][\w.-]{0,127})\s*\(/y

export const pythonic: Family = {
  id: 'pythonic',
  openers: ['['],
  strong: false,
  read(source, at) {
    const { text, tools } = source
    BEGINS.lastIndex = at
    const name = BEGINS.exec(text)?.[1]
    if (name === undefined || !tools.exact(name)) return undefined
    const read = readPythonCalls(source, at)
    if (!read?.calls.every((call) => tools.exact(call.name))) return undefined
    return { calls: read.calls, end: read.end, complete: read.whole }
  },
}
