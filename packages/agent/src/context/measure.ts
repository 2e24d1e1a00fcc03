/** Counts the tokens of a request as it is sent: JSON, with call arguments as text. */
import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider'
import type { Tool } from '@mulligan/core'
import { estimateText, MOST_PER_CHARACTER } from './estimate.ts'

/** Approximate tokens of an image. */
export const MEDIA = 1600

/** Estimates the tokens of one message of a prompt. */
export function messageTokens(message: LanguageModelV4Message): number {
  const { content } = message
  if (typeof content === 'string') return estimateText(JSON.stringify(message))
  let media = 0
  const parts = content.map((part) => {
    if (part.type === 'tool-call') return { ...part, input: JSON.stringify(part.input) }
    if (part.type !== 'file' && (part.type !== 'tool-result' || part.output.type !== 'content')) return part
    return JSON.parse(
      JSON.stringify(part, function (this: { readonly type?: unknown }, key, value: unknown) {
        if (key !== 'data' || this.type !== 'file') return value
        media++
        return ''
      }),
    ) as object
  })
  return estimateText(JSON.stringify({ ...message, content: parts })) + media * MEDIA
}

/** Returns a number of tokens that the estimates of these messages and tools do not exceed, at a hundredth of their cost. */
export function mostTokens(prompt: readonly LanguageModelV4Message[], tools: readonly Tool[]): number {
  const isText = prompt.every(({ content }) => typeof content === 'string' || content.every(({ type }) => type === 'text'))
  return isText ? JSON.stringify([prompt, tools.map(toRequest)]).length * MOST_PER_CHARACTER : Number.POSITIVE_INFINITY
}

export const toFunctionTool = ({ name, description, inputSchema }: Tool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
})

/** A tool as servers read it. */
const toRequest = (tool: Tool): object => ({ type: 'function', function: toFunctionTool(tool) })

const ofTool = new WeakMap<Tool, number>()
const ofTools = new WeakMap<readonly Tool[], number>()

/** Estimates the tokens of tool definitions. */
export function toolTokens(tools: readonly Tool[]): number {
  const known = ofTools.get(tools)
  if (known !== undefined) return known
  let sum = 0
  for (const tool of tools) {
    const size = ofTool.get(tool) ?? estimateText(JSON.stringify(toRequest(tool)))
    ofTool.set(tool, size)
    sum += size
  }
  ofTools.set(tools, sum)
  return sum
}
