/** A model that counts what is asked of it and what that costs, the same way for every arm. */
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'

export interface Meter {
  readonly model: LanguageModelV4
  readonly read: () => Metered
}

export interface Metered {
  /** Those made again included. */
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** What the last request failed with, if it did. */
  readonly fault?: unknown
}

export function metered(model: LanguageModelV4): Meter {
  let requests = 0
  let tokensIn = 0
  let tokensOut = 0
  let fault: unknown

  function spend({ inputTokens, outputTokens }: LanguageModelV4Usage): void {
    tokensIn += counted(inputTokens.total)
    tokensOut += counted(outputTokens.total)
  }

  async function observed<T>(request: () => PromiseLike<T>): Promise<T> {
    requests++
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

  return {
    model: {
      specificationVersion: model.specificationVersion,
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: async (options) => {
        const result = await observed(() => model.doGenerate(options))
        spend(result.usage)
        return result
      },
      doStream: async (options) => {
        const result = await observed(() => model.doStream(options))
        return { ...result, stream: result.stream.pipeThrough(watch()) }
      },
    },
    read: () => ({ requests, tokensIn, tokensOut, ...(fault !== undefined && { fault }) }),
  }
}

const counted = (tokens: number | undefined): number => (tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0)
