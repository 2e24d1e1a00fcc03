/** One reply of the model, as its provider package hands it over. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'

export interface ParsedCall {
  readonly id: string
  readonly name: string | null
  /** Text of the arguments. */
  readonly input: string
}

export interface RawReply {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ParsedCall[]
  /** The provider's, unified. */
  readonly finishReason: string
}

/** Characters; a reply that continues beyond is given up. */
const MAX_REPLY = 1_000_000

/** @throws whatever the provider throws, and Error for a stream without an end, or without anything in it */
export async function readReply(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<RawReply> {
  const { stream } = await model.doStream(options)
  let text = ''
  let reasoning = ''
  let finishReason: string | undefined
  const calls: ParsedCall[] = []
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'reasoning-delta') reasoning += part.delta
    else if (part.type === 'tool-call' && !part.providerExecuted)
      calls.push({ id: part.toolCallId || `call_${calls.length}`, name: part.toolName ?? null, input: part.input })
    else if (part.type === 'finish') finishReason = part.finishReason.unified
    else if (part.type === 'error') throw part.error
    if (text.length + reasoning.length > MAX_REPLY) throw new Error('the reply does not end')
  }
  const isEmpty = text === '' && reasoning === '' && calls.length === 0
  if (isEmpty && (finishReason === undefined || finishReason === 'interrupted')) throw new Error('the stream ended before the reply did')
  return { text, reasoning, calls, finishReason: finishReason ?? 'other' }
}
