/** A pipeline of stream parts around a model, for streamed and complete replies. */
import type { LanguageModelV4CallOptions, LanguageModelV4Middleware } from '@ai-sdk/provider'
import { contentOf, partsOf } from './content.ts'
import type { Part } from './stream-repair.ts'

export interface Pipeline {
  /** What goes on in the place of a part. */
  readonly part: (part: Part) => readonly Part[] | Promise<readonly Part[]>
  /** The stream is over: what is still held, where no finish came. */
  readonly end: () => readonly Part[]
}

/** @param pipelineFor undefined for a request whose reply is left alone */
export function middlewareOf(
  pipelineFor: (params: LanguageModelV4CallOptions) => Pipeline | undefined,
): Pick<LanguageModelV4Middleware, 'specificationVersion' | 'wrapStream' | 'wrapGenerate'> {
  return {
    specificationVersion: 'v4',
    wrapStream: async ({ doStream, params, model }) => {
      mustBeKnown(model)
      const result = await doStream()
      const pipeline = pipelineFor(params)
      return pipeline ? { ...result, stream: result.stream.pipeThrough(through(pipeline)) } : result
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      mustBeKnown(model)
      const result = await doGenerate()
      const pipeline = pipelineFor(params)
      if (!pipeline) return result
      const { content, finishReason, usage } = result
      const parts: Part[] = []
      for (const part of [...partsOf(content), { type: 'finish' as const, finishReason, usage }]) parts.push(...(await pipeline.part(part)))
      const finish = parts.find((part) => part.type === 'finish')
      return { ...result, content: contentOf(parts, content), finishReason: finish?.finishReason ?? finishReason }
    },
  }
}

/** Another specification has other parts: to read them as these would lose some. */
function mustBeKnown({ specificationVersion }: { readonly specificationVersion: string }): void {
  if (specificationVersion === 'v4') return
  throw new Error(`@mulligan/ai-sdk knows models of AI SDK 7 (specification v4), and this one has ${specificationVersion}.`)
}

function through(pipeline: Pipeline): TransformStream<Part, Part> {
  return new TransformStream({
    transform: async (part, controller) => {
      for (const one of await pipeline.part(part)) controller.enqueue(one)
    },
    flush: (controller) => {
      for (const one of pipeline.end()) controller.enqueue(one)
    },
  })
}
