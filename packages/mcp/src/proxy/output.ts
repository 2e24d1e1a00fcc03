/** Bounds what a call returns, and keeps the rest to be read in pages. */
import { isRecord, type JsonSchema, validateJson } from '@mulligan/repair'
import { type CallResult, errorResult, isText, text } from './messages.ts'

/** The tool by which a model reads the rest of an output. It is listed as soon as an output was cut. */
export const READ_OUTPUT = 'mulligan_read_output'

export const READ_OUTPUT_TOOL = {
  name: READ_OUTPUT,
  description: 'Reads a page of an output that was too long to be shown whole.',
  inputSchema: {
    type: 'object',
    properties: {
      output: { type: 'string', description: 'The id of the output, as its first page says.' },
      page: { type: 'integer', minimum: 1 },
    },
    required: ['output', 'page'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
}

/** Maximum characters that are kept of all outputs together. */
const MAX_KEPT = 64_000_000

export interface Outputs {
  /** @returns the output's id */
  readonly keep: (whole: string) => string
  readonly read: (args: unknown) => CallResult
  /** Whether anything was ever kept. */
  readonly isUsed: () => boolean
}

/** Keeps outputs in memory, the oldest are dropped. @param pageSize in characters */
export function createOutputs(pageSize: number): Outputs {
  const kept = new Map<string, string>()
  let size = 0
  let count = 0
  return {
    keep(whole) {
      const id = String(++count)
      kept.set(id, whole.slice(0, MAX_KEPT))
      size += Math.min(whole.length, MAX_KEPT)
      for (const [oldest, dropped] of kept) {
        if (size <= MAX_KEPT || oldest === id) break
        kept.delete(oldest)
        size -= dropped.length
      }
      return id
    },
    read(args) {
      const { output, page } = isRecord(args) ? args : {}
      const whole = kept.get(String(output))
      if (whole === undefined) return errorResult(`The output ${JSON.stringify(output)} is no longer available. Call its tool again.`)
      const pages = Math.ceil(whole.length / pageSize)
      const number = Number(page)
      if (!Number.isInteger(number) || number < 1 || number > pages) return errorResult(`"page" must be a whole number from 1 to ${pages}.`)
      const next = number < pages ? ` Next: ${readCall(String(output), number + 1)}` : ''
      return {
        resultType: 'complete',
        content: [text(whole.slice((number - 1) * pageSize, number * pageSize)), text(`[Page ${number} of ${pages}.${next}]`)],
      }
    },
    isUsed: () => count > 0,
  }
}

/** The call that reads a page. */
export const readCall = (output: string, page: number): string => `${READ_OUTPUT}(${JSON.stringify({ output, page })})`

/**
 * Returns the result with at most `max` characters of text and about as many of structured content, which still satisfies its schema.
 * Returns the same object if nothing is too long.
 */
export function boundResult(result: CallResult, schema: JsonSchema | undefined, max: number, keep: (whole: string) => string): CallResult {
  const content = Array.isArray(result.content) ? result.content : []
  const texts = content.map(textOf)
  const total = texts.reduce((sum, one) => sum + one.length, 0)
  const { structuredContent } = result
  const structuredSize = structuredContent === undefined ? 0 : sizeOf(structuredContent)
  if (total <= max && structuredSize <= max) return result
  const whole = total >= structuredSize ? texts.filter((one) => one !== '').join('\n') : JSON.stringify(structuredContent, null, 2)
  const id = keep(whole)
  const where = `To read on: ${readCall(id, 2)}. Or ask for less.`
  const shortened: Record<string, unknown> = { ...result }
  if (structuredSize > max) {
    const shrunk = shrink(structuredContent, max)
    if (schema && validateJson(schema, shrunk).length > 0)
      return errorResult(
        `The tool returned ${structuredSize} characters of data, which can't be shortened. To read it: ${readCall(id, 1)}. Or ask for less.`,
      )
    shortened['structuredContent'] = shrunk
  }
  const items = total > max ? cut(content, texts, max) : content
  const says =
    total > max
      ? `[The first ${max} of ${total} characters. ${where}]`
      : `[The structured content was shortened: it had ${structuredSize} characters. To read it: ${readCall(id, 1)}. Or ask for less.]`
  return { ...shortened, content: [...items, text(says)] }
}

const textOf = (item: unknown): string => {
  if (isText(item)) return item.text
  const resource = isRecord(item) && item['type'] === 'resource' ? item['resource'] : undefined
  return isRecord(resource) && typeof resource['text'] === 'string' ? resource['text'] : ''
}

/** Keeps items up to `max` characters of text; items without text are kept. */
function cut(content: readonly unknown[], texts: readonly string[], max: number): readonly unknown[] {
  let left = max
  return content.flatMap((item, at) => {
    const { length } = texts[at] as string
    if (length === 0 || length <= left) {
      left -= length
      return [item]
    }
    const part = wholeCharacters(texts[at] as string, left)
    left = 0
    if (part === '') return []
    return [isText(item) ? { ...item, text: part } : withResourceText(item as Record<string, unknown>, part)]
  })
}

const withResourceText = (item: Record<string, unknown>, part: string): Record<string, unknown> => ({
  ...item,
  resource: { ...(item['resource'] as object), text: part },
})

/** Cuts a text without splitting a surrogate pair. */
const wholeCharacters = (value: string, most: number): string => {
  const code = value.charCodeAt(most - 1)
  return value.slice(0, code >= 0xd800 && code <= 0xdbff ? most - 1 : most)
}

/** About the length of a value's JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sizeOf(one) + 1, 2)
  if (isRecord(value)) return Object.entries(value).reduce((sum, [key, one]) => sum + key.length + sizeOf(one) + 4, 2)
  return 6
}

const MARK = '…'

/** Shortens strings and lists so that the JSON has about `budget` characters. The keys of objects stay. */
export function shrink(value: unknown, budget: number): unknown {
  if (typeof value === 'string') return value.length + 2 <= budget ? value : wholeCharacters(value, Math.max(0, budget - 3)) + MARK
  if (Array.isArray(value)) {
    const kept: unknown[] = []
    let left = budget - 2
    for (const one of value) {
      const size = sizeOf(one) + 1
      if (size > left) {
        // A list of a single long item would otherwise be empty.
        if (kept.length === 0 && left > 100) kept.push(shrink(one, left))
        break
      }
      kept.push(one)
      left -= size
    }
    return kept
  }
  if (!isRecord(value)) return value
  const fields = Object.entries(value).map(([key, one]) => ({ key, one, size: sizeOf(one) + key.length + 4 }))
  const shares = new Map<string, unknown>()
  let left = budget - 2
  let count = fields.length
  // The smallest first: what they don't need is shared by the others.
  for (const { key, one, size } of fields.toSorted((a, b) => a.size - b.size)) {
    const share = Math.floor(left / count--)
    shares.set(key, size <= share ? one : shrink(one, share - key.length - 4))
    left -= Math.min(size, share)
  }
  return Object.fromEntries(fields.map(({ key }) => [key, shares.get(key)]))
}
