/** Reads families as the engine does and formats the results briefly. */
import type { ToolSpec } from '../../tool-spec.ts'
import type { Block, Family, MarkupCall, Source } from '../family.ts'
import { indexTools, sourceOf } from '../source.ts'

const object = (properties: Record<string, unknown>, required: readonly string[] = []) => ({ type: 'object', properties, required })
const text = { type: 'string' }

export const TOOLS: readonly ToolSpec[] = [
  { name: 'quote', parameters: object({ symbol: text, days: { type: 'integer' } }, ['symbol', 'days']) },
  { name: 'post_note', parameters: object({ to: text, body: text, urgent: { type: 'boolean' } }, ['to']) },
  { name: 'ports', parameters: object({}) },
  { name: 'total', parameters: object({ values: { type: 'array' } }, ['values']) },
]

export const sourceFor = (text: string): Source => sourceOf(text, indexTools(TOOLS))

/** Returns all blocks from left to right, as the engine reads them. */
export function blocksIn(family: Family, source: Source): readonly Block[] {
  const blocks: Block[] = []
  for (let at = next(family, source, 0); at !== -1; ) {
    const block = family.read(source, at)
    if (block) blocks.push(block)
    at = next(family, source, block ? block.end : at + 1)
  }
  return blocks
}

function next(family: Family, source: Source, from: number): number {
  if (family.afterName && from === 0) return 0
  const found = family.openers.map((opener) => source.find(opener, from)).filter((at) => at !== -1)
  return found.length === 0 ? -1 : Math.min(...found)
}

/** Formats a call as `name(arguments)`, with `!` for damage, `…` for cut off and `#id`; the arguments are JSON, or raw text in `«»`. */
const told = (call: MarkupCall): string => {
  const given =
    call.arguments.kind === 'object' ? JSON.stringify(call.arguments.value) : `«${'text' in call.arguments ? call.arguments.text : ''}»`
  return `${call.name}(${given})${call.damage ? '!' : ''}${call.cutOff ? '…' : ''}${call.id ? `#${call.id}` : ''}`
}

/** Formats the calls in a text, with the remaining text in brackets and `?` for an incomplete block. */
export function reading(family: Family, written: string): { readonly calls: readonly string[]; readonly rest: string } {
  const source = sourceFor(written)
  const calls: string[] = []
  let rest = ''
  let done = 0
  for (let at = next(family, source, 0); at !== -1; ) {
    const block = family.read(source, at)
    if (block) {
      calls.push(...block.calls.map(told))
      rest += `${written.slice(done, at)}${block.complete ? '∎' : '?'}`
      done = block.end
    }
    at = next(family, source, block ? block.end : at + 1)
  }
  return { calls, rest: rest + written.slice(done) }
}
