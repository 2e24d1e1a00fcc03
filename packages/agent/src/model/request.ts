/**
 * One model request, over the contract that every AI SDK provider implements (`LanguageModelV4.doStream`). Calls come as
 * they were on the wire, with the raw text of their arguments: what they mean is the executor's business.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { AssistantPart, ProviderMetadata, Usage } from '../history/message.ts'
import { BrokenStream, EndlessReply, SilentStream } from './fault.ts'
import { repetition } from './repetition.ts'

export interface ModelRequest {
  readonly prompt: LanguageModelV4Prompt
  readonly tools: readonly LanguageModelV4FunctionTool[]
  /** The tools stay in the request, but may not be called. */
  readonly noCalls: boolean
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
  readonly onReasoning: (text: string) => void
  /** Milliseconds without anything new, once the reply has begun, after which it is given up. Default: 300 s. */
  readonly maxSilence?: number
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
/** Characters of text, reasoning and arguments that one reply may have. */
const MAX_REPLY = 4_000_000
const MAX_SILENCE = 300_000

/**
 * @throws whatever the provider throws, and {@link BrokenStream} when the stream ends without a finish, {@link SilentStream}
 *   when it goes on without anything new, {@link EndlessReply} when it goes on and on
 */
export async function requestModel(model: LanguageModelV4, request: ModelRequest): Promise<Reply> {
  const inner = new AbortController()
  const signal = AbortSignal.any([request.signal, inner.signal])
  const { stream } = await model.doStream(options(request, signal))
  const parts: (Growing | Extract<ReplyPart, { type: 'call' }>)[] = []
  const growing = new Map<string, { readonly part: Growing; looked: number }>()
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  let finishReason: string | undefined
  let received = 0

  /** @returns whether the model repeats itself; what it repeated is cut off */
  function grow(type: Growing['type'], id: string, delta: string, metadata: unknown): boolean {
    const key = `${type} ${id}`
    let grown = growing.get(key)
    if (!grown) {
      grown = { part: { type, text: '' }, looked: 0 }
      growing.set(key, grown)
      parts.push(grown.part)
    }
    const { part } = grown
    part.text += delta
    if (metadata) part.metadata = { ...part.metadata, ...(metadata as ProviderMetadata) }
    if (part.text.length - grown.looked < LOOK_EVERY) return false
    grown.looked = part.text.length
    const repeated = repetition(part.text)
    if (repeated !== undefined) part.text = part.text.slice(0, repeated)
    return repeated !== undefined
  }

  const reader = stream.getReader()
  let ended = false
  let silence: NodeJS.Timeout | undefined
  let silent = false
  const { maxSilence = MAX_SILENCE } = request
  /** The first part may take its time: a model may have to be loaded. */
  const heard = () => {
    silence?.refresh()
    silence ??= setTimeout(() => {
      silent = true
      reader.cancel().catch(() => undefined)
      inner.abort()
    }, maxSilence)
  }
  try {
    reading: for (;;) {
      const { done, value: part } = await reader.read()
      if (silent) throw new SilentStream(maxSilence)
      ended = done
      if (done) break
      if (isNew(part)) heard()
      // Every part counts, also one without characters.
      received += 'delta' in part ? Math.max(1, part.delta.length) : 1
      if (received > MAX_REPLY) throw new EndlessReply(MAX_REPLY)
      switch (part.type) {
        case 'text-start':
        case 'text-end':
          grow('text', part.id, '', part.providerMetadata)
          break
        case 'text-delta':
        case 'reasoning-delta': {
          const isText = part.type === 'text-delta'
          const repeats = grow(isText ? 'text' : 'reasoning', part.id, part.delta, part.providerMetadata)
          if (isText) request.onText(part.delta)
          else request.onReasoning(part.delta)
          if (!repeats) break
          finishReason = 'repetition'
          break reading
        }
        case 'reasoning-start':
        case 'reasoning-end':
          grow('reasoning', part.id, '', part.providerMetadata)
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
    clearTimeout(silence)
    if (!ended) {
      inner.abort()
      reader.cancel().catch(() => undefined)
    }
  }
  if (finishReason === undefined || finishReason === 'interrupted') throw new BrokenStream()
  // The calls of a reply that was cut off are not answered, so they must not stand in the history.
  const kept = parts.filter((part) => (part.type === 'call' ? finishReason !== 'repetition' : part.type !== 'text' || part.text !== ''))
  return { parts: kept, finishReason, usage }
}

/** Pings and the openings of what may never come don't count. */
const isNew = (part: LanguageModelV4StreamPart): boolean =>
  'delta' in part ? part.delta !== '' : part.type === 'tool-input-start' || part.type === 'tool-call'

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
  const length = parts.reduce((sum, part) => sum + (part.type === 'call' ? part.input : part.text).length, 0)
  if (length > MAX_REPLY) throw new EndlessReply(MAX_REPLY)
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
