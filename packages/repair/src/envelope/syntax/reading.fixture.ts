/** For tests of the families: a text read to its end, in a form that fits a table. */
import type { ToolSpec } from '../../tool-spec.ts'
import type { Family, RawArguments } from '../family.ts'
import { indexTools, sourceOf } from '../source.ts'

/** Name, values by key, then "cut off" and what was damaged. */
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

/** All blocks from the beginning on, line breaks between them aside, and what is left. */
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

/** Calls `read` as the engine does, at each opener from the left. Gives where it ends: the length of the text, or it is stuck. */
export function readThrough(family: Family, text: string, tools: readonly ToolSpec[]): number {
  const source = sourceOf(text, indexTools(tools))
  let at = 0
  while (at < text.length) {
    const block = family.openers.some((opener) => text.startsWith(opener, at)) ? family.read(source, at) : undefined
    at = block ? block.end : at + 1
  }
  return at
}
