/** Families whose block is calls in Python's notation, or JSON in their place, between two tags. */
import type { Family } from '../family.ts'
import { readCalls } from './call-text.ts'
import { afterTrailing, sticky } from './json-between.ts'
import { afterCloser, skip, standing } from './json-extent.ts'
import { readPythonCalls } from './python-call.ts'

export interface PythonBetween {
  readonly id: string
  readonly openers: readonly string[]
  readonly closers: readonly string[]
  readonly trailing?: readonly string[]
  /** Only names of tools, exactly. */
  readonly exact?: true
}

/** MiniCPM puts one inside its tags. */
const FENCE = /\s*```(?:python|json)?\s/y
const JSON_BEGINS = /\[?\s*\{|\[\s*\]/y

export function pythonBetween({ id, openers, closers, trailing = [], exact }: PythonBetween): Family {
  const stops = [...closers, ...openers]
  return {
    id,
    openers,
    strong: true,
    read(source, at) {
      const { text } = source
      const inside = at + standing(text, at, openers).length
      const from = skip(text, sticky(FENCE, text, inside))
      const isJson = sticky(JSON_BEGINS, text, from) > from
      const read = isJson ? readCalls(source, from, stops) : readPythonCalls(source, from, stops)
      if (!read || (exact && read.calls.some((call) => !source.tools.exact(bare(call.name))))) return undefined
      if (!read.whole) return { calls: read.calls, end: read.end, complete: false }
      const closing = skip(text, read.end, ' \t\r\n,;])}')
      const next = closers.includes('```') ? closing : skip(text, closing, ' \t\r\n`')
      const closed = afterCloser(text, next, closers)
      const last = closed === next ? read.end : closed
      return { calls: read.calls, end: afterTrailing(text, last, trailing), complete: true }
    },
  }
}

const bare = (name: string): string => name.replace(/^default_api\./, '')
