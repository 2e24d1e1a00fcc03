/**
 * One model request, over the contract that every AI SDK provider implements (`LanguageModelV4.doStream`). Calls come as
 * they were on the wire, with the raw text of their arguments: what they mean is the executor's business.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
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
  const { stream } = await model.doStream(options(request, signal))
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
  let ended = false
  try {
    reading: for (;;) {
      const { done, value: part } = await reader.read()
      ended = done
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
          parts.push(callPart(part))
          break
        case 'finish':
          finishReason = part.finishReason.unified
          usage = usageOf(part.usage)
          break
        case 'error':
          throw part.error
      }
    }
  } finally {
    if (!ended) {
      inner.abort()
      reader.cancel().catch(() => undefined)
    }
  }
  if (finishReason === undefined || finishReason === 'interrupted') throw new BrokenStream()
  return { parts: parts.filter((part) => part.type !== 'text' || part.text !== ''), finishReason, usage }
}

/** The same request without streaming: for servers that can't stream, or never say that they are done. */
export async function requestWhole(model: LanguageModelV4, request: ModelRequest): Promise<Reply> {
  const { content, finishReason, usage } = await model.doGenerate(options(request, request.signal))
  const parts: ReplyPart[] = []
  for (const part of content) {
    const metadata = part.providerMetadata && { metadata: part.providerMetadata as ProviderMetadata }
    if (part.type === 'text' && part.text !== '') {
      parts.push({ type: 'text', text: part.text, ...metadata })
      request.onText(part.text)
    } else if (part.type === 'reasoning') {
      parts.push({ type: 'reasoning', text: part.text, ...metadata })
      request.onReasoning(part.text)
    } else if (part.type === 'tool-call' && !part.providerExecuted) parts.push(callPart(part))
  }
  return { parts, finishReason: finishReason.unified, usage: usageOf(usage) }
}

const options = ({ prompt, tools, noCalls }: ModelRequest, abortSignal: AbortSignal): LanguageModelV4CallOptions => ({
  prompt,
  ...(tools.length > 0 && { tools: [...tools], toolChoice: { type: noCalls ? ('none' as const) : ('auto' as const) } }),
  abortSignal,
})

const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage => ({
  inputTokens: inputTokens.total ?? 0,
  outputTokens: outputTokens.total ?? 0,
})

/** A call as it came; servers leave out what they should not. */
const callPart = ({
  toolCallId,
  toolName,
  input,
  providerMetadata,
}: Partial<LanguageModelV4ToolCall>): Extract<ReplyPart, { type: 'call' }> => ({
  type: 'call',
  wireId: toolCallId ?? '',
  name: toolName ?? null,
  input: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
  ...(providerMetadata && { metadata: providerMetadata as ProviderMetadata }),
})
