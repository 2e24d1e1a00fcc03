/** Counts the requests and tokens of a model, in the same way for every arm. */
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'

export interface Metered {
  /** Including requests that were repeated. */
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** The error of the last request, if it failed. */
  readonly fault?: unknown
}

export function metered(model: LanguageModelV4): { readonly model: LanguageModelV4; readonly read: () => Metered } {
  const spent = { requests: 0, tokensIn: 0, tokensOut: 0 }
  let fault: unknown

  function spend({ inputTokens, outputTokens }: LanguageModelV4Usage): void {
    spent.tokensIn += counted(inputTokens.total)
    spent.tokensOut += counted(outputTokens.total)
  }

  async function observed<T>(request: () => PromiseLike<T>): Promise<T> {
    spent.requests++
    fault = undefined
    try {
      return await request()
    } catch (error) {
      fault = error
      throw error
    }
  }

  const watch = (): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> =>
    new TransformStream({
      transform: (part, controller) => {
        if (part.type === 'finish') spend(part.usage)
        if (part.type === 'error') fault = part.error
        controller.enqueue(part)
      },
    })
  const doGenerate: LanguageModelV4['doGenerate'] = async (options) => {
    const result = await observed(() => model.doGenerate(options))
    spend(result.usage)
    return result
  }
  const doStream: LanguageModelV4['doStream'] = async (options) => {
    const result = await observed(() => model.doStream(options))
    return { ...result, stream: result.stream.pipeThrough(watch()) }
  }
  const { specificationVersion, provider, modelId, supportedUrls } = model
  return {
    model: { specificationVersion, provider, modelId, supportedUrls, doGenerate, doStream },
    read: () => ({ ...spent, ...(fault !== undefined && { fault }) }),
  }
}

const counted = (tokens: number | undefined): number => (tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0)
