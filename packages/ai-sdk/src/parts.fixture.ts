/** Streams built from parts, and their results. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { wrapLanguageModel } from 'ai'
import { type RepairToolCallsOptions, repairToolCalls } from './index.ts'

export type Part = LanguageModelV4StreamPart

export const PARAMS: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Search.' }] }],
  tools: [
    {
      type: 'function',
      name: 'search',
      inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] },
    },
    { type: 'provider', id: 'anthropic.bash_20250124', name: 'bash', args: {} },
  ],
}
export const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as Extract<Part, { type: 'finish' }>['usage']
export const finish = (unified: Extract<Part, { type: 'finish' }>['finishReason']['unified'] = 'stop'): Part => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: USAGE,
})
export const text = (id: string, ...deltas: string[]): Part[] => [
  { type: 'text-start', id },
  ...deltas.map((delta): Part => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
]
export const search = (toolCallId: string, input: string, more: object = {}): Part => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'search',
  input,
  ...more,
})

export function model(parts: readonly Part[], content: LanguageModelV4Content[] = []): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'by-hand',
    modelId: 'by-hand',
    supportedUrls: {},
    doGenerate: async () => ({ content, finishReason: { unified: 'stop', raw: 'stop' }, usage: USAGE, warnings: [] }),
    doStream: async () => ({ stream: ReadableStream.from(parts) as ReadableStream<Part> }),
  }
}

export async function streamed(from: LanguageModelV4, params = PARAMS): Promise<Part[]> {
  const { stream } = await from.doStream(params)
  const parts: Part[] = []
  for await (const part of stream as unknown as AsyncIterable<Part>) parts.push(part)
  return parts
}

export const through = (parts: readonly Part[], options: RepairToolCallsOptions = {}, params = PARAMS): Promise<Part[]> =>
  streamed(wrapLanguageModel({ model: model(parts), middleware: repairToolCalls(options) }), params)

/** What a user sees, without generated ids. */
export const brief = (parts: readonly Part[]): string[] =>
  parts.map((part) => {
    if (part.type === 'tool-call') return `call ${part.toolName}(${part.input})`
    if (part.type === 'finish') return `finish ${part.finishReason.unified}`
    if ('delta' in part) return `${part.type} ${part.delta}`
    return part.type
  })

/** Joins the pieces of a text, because the parser passes some characters on later than they arrive. */
export const joined = (parts: readonly Part[]): Part[] => {
  const whole: Part[] = []
  for (const part of parts) {
    const last = whole.at(-1)
    if (
      part.type === 'text-delta' &&
      last?.type === 'text-delta' &&
      last.id === part.id &&
      !last.providerMetadata &&
      !part.providerMetadata
    )
      whole[whole.length - 1] = { ...last, delta: last.delta + part.delta }
    else whole.push(part)
  }
  return whole
}
