/** Counts the tokens of a request as it is sent: JSON, with call arguments as text. */
import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider'
import type { Tool } from '@mulligan/core'
import { estimateText } from './estimate.ts'

/** Approximate tokens of an image. */
const MEDIA = 1600

/** Estimates the tokens of one message of a prompt. */
export function messageTokens(message: LanguageModelV4Message): number {
  if (isText(message)) return estimateText(JSON.stringify(message))
  let media = 0
  const text = JSON.stringify(message, function (this: { readonly type?: unknown }, key, value: unknown) {
    if (key === 'input' && this.type === 'tool-call') return JSON.stringify(value)
    if (key !== 'data' || this.type !== 'file') return value
    media++
    return ''
  })
  return estimateText(text) + media * MEDIA
}

/** Returns whether the whole message is sent as plain text. */
const isText = ({ content }: LanguageModelV4Message): boolean =>
  typeof content === 'string' ||
  content.every((part) => part.type === 'text' || (part.type === 'tool-result' && part.output.type.endsWith('text')))

export const toFunctionTool = ({ name, description, inputSchema }: Tool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
})

const known = new WeakMap<Tool, number>()

/** Estimates the tokens of tool definitions. */
export function toolTokens(tools: readonly Tool[]): number {
  let sum = 0
  for (const tool of tools) {
    const size = known.get(tool) ?? estimateText(JSON.stringify({ type: 'function', function: toFunctionTool(tool) }))
    known.set(tool, size)
    sum += size
  }
  return sum
}
