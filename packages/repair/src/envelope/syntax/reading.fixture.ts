/** Test helper for families: reads a whole text and formats the result for a table. */
import type { ToolSpec } from '../../tool-spec.ts'
import type { Family, RawArguments } from '../family.ts'
import { indexTools, sourceOf } from '../source.ts'

/** Formats the name, the values by key, then "cut off" and the damage. */
export type Row = readonly [name: string, values: Readonly<Record<string, string>> | string, ...marks: string[]]

export interface Reading {
  readonly calls: readonly Row[]
  readonly rest: string
  readonly complete: boolean
}

export const tool = (name: string, types: Readonly<Record<string, string>>): ToolSpec => ({
  name,
  parameters: { type: 'object', properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }])) },
})

/** Reads consecutive blocks from the start, ignoring line breaks between them, and returns the remaining text. */
export function readingOf(family: Family, tools: readonly ToolSpec[]): (text: string) => Reading {
  const index = indexTools(tools)
  return (text) => {
    const source = sourceOf(text, index)
    const calls: Row[] = []
    let at = 0
    let complete = true
    for (let block = family.read(source, at); block; block = at < text.length ? family.read(source, at) : undefined) {
      for (const call of block.calls) {
        const marks = [...(call.cutOff ? ['cut off'] : []), ...(call.damage ? [call.damage] : [])]
        calls.push([call.name, valuesOf(call.arguments), ...marks])
      }
      at = block.end
      complete = block.complete
      while (text[at] === '\n') at++
    }
    return { calls, rest: text.slice(at), complete }
  }
}

function valuesOf(given: RawArguments): Readonly<Record<string, string>> | string {
  if (given.kind === 'texts') return Object.fromEntries(given.entries.map((one) => [one.key, one.as ? `${one.as}: ${one.text}` : one.text]))
  return given.kind === 'object' ? JSON.stringify(given.value) : given.text
}

/**
 * Calls `read` as the engine does, at each opener from left to right. Returns the end position, which is the length of the text unless
 * the reader is stuck.
 */
export function readThrough(family: Family, text: string, tools: readonly ToolSpec[]): number {
  const source = sourceOf(text, indexTools(tools))
  let at = 0
  while (at < text.length) {
    const block = family.openers.some((opener) => text.startsWith(opener, at)) ? family.read(source, at) : undefined
    at = block ? block.end : at + 1
  }
  return at
}
