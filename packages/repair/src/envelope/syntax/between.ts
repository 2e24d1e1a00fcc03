/** Families whose block is JSON, or other text with calls, between two tags. They differ only in their tags. */
import { past, tokenAt } from '../../text.ts'
import type { CallsRead, Family, Source } from '../family.ts'
import { readCalls } from './call-text.ts'
import { afterNoise, closedBlock } from './closers.ts'

interface Between {
  /** The full opening, if it is longer than the opener. Sticky. */
  readonly head?: RegExp
  /** Accept exact tool names only, for openers that people type as well. */
  readonly exact?: true
  /** Text that the server leaves after the closer; part of the block. */
  readonly trailing?: readonly string[]
  /** Reads a block that does not start as JSON. */
  readonly other?: (source: Source, at: number, stops: readonly string[]) => CallsRead | undefined
}

const FENCE = /\s*(?:```(?:json|python)?\s*)?/y
/** An object or a list of objects. `[1]` is not a call, and neither is a tag mentioned in prose. */
const JSON_BEGINS = /\{|\[\s*(?:[{\]]|$)/y

/** @param closers any of these ends the block; without one, it ends after its calls */
export function between(id: string, openers: readonly string[], closers: readonly string[], options: Between = {}): Family {
  const { head, exact, trailing = [], other } = options
  const stops = [...closers, ...openers]
  const noise = `${other ? ' \t\r\n,;])}' : ' \t\r\n}]'}${closers.includes('```') ? '' : '`'}`
  return {
    id,
    openers,
    read(source, at) {
      const { text, tools } = source
      const inside = head ? past(head, text, at) : at + tokenAt(text, at, openers).length
      if (inside === at) return undefined
      const from = past(FENCE, text, inside)
      const read = past(JSON_BEGINS, text, from) > from ? readCalls(source, from, stops) : other?.(source, from, stops)
      const isTool = (name: string): boolean => tools.exact(name.replace(/^default_api\./, '')) !== undefined
      if (!read || (exact && !(read.calls.length > 0 && read.calls.every(({ name }) => isTool(name))))) return undefined
      const block = closedBlock(source, read.calls, read, closers, noise)
      if (!block.complete) return block
      const isFenced = block.end === read.end && text.slice(inside, from).includes('```')
      return { ...block, end: afterNoise(text, isFenced ? afterNoise(text, block.end, ['```']) : block.end, trailing) }
    },
  }
}
