/** Families whose block is calls in Python's notation, or JSON in their place, between two tags. */
import type { Family, Source } from '../family.ts'
import { readBareCalls } from './bare-calls.ts'
import { readCalls } from './call-text.ts'
import { afterTrailing, sticky } from './json-between.ts'
import { afterCloser, skip, standing } from './json-extent.ts'
import { type PythonCalls, readPythonCalls } from './python-call.ts'

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
      const read = isJson ? readCalls(source, from, stops) : readInside(source, from, stops)
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

/** Calls that are no Python, but name tools and say what the arguments are, are taken for a read. */
function readInside(source: Source, at: number, stops: readonly string[]): PythonCalls | undefined {
  const read = readPythonCalls(source, at, stops)
  if (read?.calls.every((call) => call.arguments.kind !== 'unread')) return read
  const loose = readBareCalls(source, at)
  if (loose.calls.length === 0 || !standing(source.text, skip(source.text, loose.end), stops)) return read
  return { calls: loose.calls.map((call) => ({ ...call, damage: 'it was not Python', unsure: true })), end: loose.end, whole: true }
}

const bare = (name: string): string => name.replace(/^default_api\./, '')
