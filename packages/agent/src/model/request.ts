/**
 * One model request, over the contract that every AI SDK provider implements (`LanguageModelV4.doStream`). Calls come as
 * they were on the wire, with the raw text of their arguments: what they mean is the executor's business.
 */
import type { LanguageModelV4, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AssistantPart, ProviderMetadata, Usage } from '../history/message.ts'
import { BrokenStream } from './fault.ts'
import { repetition } from './repetition.ts'

export interface ModelRequest {
  readonly prompt: LanguageModelV4Prompt
  readonly tools: readonly LanguageModelV4FunctionTool[]
  /** The tools stay in the request, but may not be called. */
  readonly noCalls: boolean
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
  readonly onReasoning: (text: string) => void
}

export type ReplyPart = Exclude<AssistantPart, { type: 'call' }> | Omit<Extract<AssistantPart, { type: 'call' }>, 'callId'>

export interface Reply {
  readonly parts: readonly ReplyPart[]
  /** The provider's, unified; `repetition` when the model repeated itself and was cut off here. */
  readonly finishReason: string
  readonly usage: Usage
}

interface Growing {
  type: 'text' | 'reasoning'
  text: string
  metadata?: ProviderMetadata
}

/** How many new characters go by between two looks for repetition. */
const LOOK_EVERY = 1000

/**
 * @throws whatever the provider throws, and {@link BrokenStream} when the stream ends without a finish
 */
export async function requestModel(model: LanguageModelV4, request: ModelRequest): Promise<Reply> {
  const inner = new AbortController()
  const signal = AbortSignal.any([request.signal, inner.signal])
  const { stream } = await model.doStream({
    prompt: request.prompt,
    ...(request.tools.length > 0 && {
      tools: [...request.tools],
      toolChoice: { type: request.noCalls ? ('none' as const) : ('auto' as const) },
    }),
    abortSignal: signal,
  })
  const parts: (Growing | Extract<ReplyPart, { type: 'call' }>)[] = []
  const growing = new Map<string, Growing>()
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  let finishReason: string | undefined
  let looked = 0

  function grow(type: Growing['type'], id: string, delta: string, metadata: unknown): void {
    const key = `${type} ${id}`
    let part = growing.get(key)
    if (!part) {
      part = { type, text: '' }
      growing.set(key, part)
      parts.push(part)
    }
    part.text += delta
    if (metadata) part.metadata = { ...part.metadata, ...(metadata as ProviderMetadata) }
  }

  const reader = stream.getReader()
  try {
    reading: for (;;) {
      const { done, value: part } = await reader.read()
      if (done) break
      switch (part.type) {
        case 'text-start':
        case 'text-end':
          grow('text', part.id, '', part.providerMetadata)
          break
        case 'text-delta': {
          grow('text', part.id, part.delta, part.providerMetadata)
          request.onText(part.delta)
          const grown = growing.get(`text ${part.id}`) as Growing
          if (grown.text.length - looked < LOOK_EVERY) break
          looked = grown.text.length
          const repeated = repetition(grown.text)
          if (repeated === undefined) break
          grown.text = grown.text.slice(0, repeated)
          finishReason = 'repetition'
          break reading
        }
        case 'reasoning-start':
        case 'reasoning-end':
          grow('reasoning', part.id, '', part.providerMetadata)
          break
        case 'reasoning-delta':
          grow('reasoning', part.id, part.delta, part.providerMetadata)
          request.onReasoning(part.delta)
          break
        case 'tool-call':
          if (part.providerExecuted) break
          parts.push({
            type: 'call',
            wireId: part.toolCallId ?? '',
            name: part.toolName ?? null,
            input: typeof part.input === 'string' ? part.input : JSON.stringify(part.input ?? {}),
            ...(part.providerMetadata && { metadata: part.providerMetadata as ProviderMetadata }),
          })
          break
        case 'finish':
          finishReason = part.finishReason.unified
          usage = { inputTokens: part.usage.inputTokens.total ?? 0, outputTokens: part.usage.outputTokens.total ?? 0 }
          break
        case 'error':
          throw part.error
      }
    }
  } finally {
    inner.abort()
    reader.cancel().catch(() => undefined)
  }
  if (finishReason === undefined || finishReason === 'interrupted') throw new BrokenStream()
  return { parts: parts.filter((part) => part.type !== 'text' || part.text !== ''), finishReason, usage }
}
