/** Families whose block is JSON between two tags: they differ in the tags alone. */
import type { Family } from '../family.ts'
import { readCalls } from './call-text.ts'
import { afterCloser, skip, standing } from './json-extent.ts'

export interface JsonBetween {
  readonly id: string
  readonly openers: readonly string[]
  /** Any of them ends the block; without one it ends with its JSON. */
  readonly closers: readonly string[]
  /** What stands at an opener in full, where that is more than the opener. Sticky. */
  readonly head?: RegExp
  /** Only names of tools, exactly: for openers that people type as well. */
  readonly exact?: true
  /** What the server leaves after the closer: part of the block. */
  readonly trailing?: readonly string[]
}

/** An object, or a list of them: `[1]` is no call, nor is a tag that is spoken of. */
const BEGINS = /\{|\[\s*(?:[{\]]|$)/y
const FENCE = /\s*(?:```(?:json)?\s*)?/y

export function jsonBetween({ id, openers, closers, head, exact, trailing = [] }: JsonBetween): Family {
  const stops = [...closers, ...openers]
  return {
    id,
    openers,
    strong: true,
    read(source, at) {
      const { text } = source
      const inside = head ? sticky(head, text, at) : at + standing(text, at, openers).length
      if (inside === at) return undefined
      const from = sticky(FENCE, text, inside)
      if (sticky(BEGINS, text, from) === from) return undefined
      const { calls, end, whole } = readCalls(source, from, stops)
      if (exact && (calls.length === 0 || calls.some((call) => !source.tools.exact(call.name)))) return undefined
      if (!whole) return { calls, end, complete: false }
      const next = skip(text, end, ' \t\r\n}]`')
      const closed = afterCloser(text, next, closers)
      const last = closed === next ? fenceEnd(text, from, end) : closed
      return { calls, end: afterTrailing(text, last, trailing), complete: true }
    },
  }
}

/** Behind what the server leaves at the end of a turn, white space before it included. */
export function afterTrailing(text: string, at: number, trailing: readonly string[]): number {
  const next = skip(text, at)
  const end = afterCloser(text, next, trailing)
  return end === next ? at : end
}

/** Where a match of the sticky `pattern` at `at` ends, `at` when there is none. */
export function sticky(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function fenceEnd(text: string, from: number, end: number): number {
  const next = skip(text, end)
  const fenced = text.slice(Math.max(0, from - 12), from).includes('```')
  return fenced && text.startsWith('```', next) ? next + 3 : end
}
