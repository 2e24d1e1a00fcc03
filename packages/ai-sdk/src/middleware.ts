/** A pipeline of stream parts around a model, for streamed and complete replies. */
import type { LanguageModelV4CallOptions, LanguageModelV4Middleware, LanguageModelV4Usage } from '@ai-sdk/provider'
import { contentOf, partsOf } from './content.ts'
import { instructed } from './prompt.ts'
import type { Part } from './stream-repair.ts'

export interface Pipeline {
  /** What goes on in the place of a part. */
  readonly part: (part: Part) => readonly Part[] | Promise<readonly Part[]>
  /** The stream is over: what is still held, where no finish came. */
  readonly end: () => readonly Part[]
  /** After the finish: what to tell the model, where it is to be asked once to make a call properly. */
  readonly askAgain?: () => string | undefined
}

type Finish = Extract<Part, { type: 'finish' }>

/** @param pipelineFor undefined for a request whose reply is left alone. `second`: the model was asked again already */
export function middlewareOf(
  pipelineFor: (params: LanguageModelV4CallOptions, second: boolean) => Pipeline | undefined,
): Pick<LanguageModelV4Middleware, 'specificationVersion' | 'wrapStream' | 'wrapGenerate'> {
  return {
    specificationVersion: 'v4',
    wrapStream: async ({ doStream, params, model }) => {
      mustBeKnown(model)
      const result = await doStream()
      const pipeline = pipelineFor(params, false)
      if (!pipeline) return result
      const again = async function* (told: string, first: Finish): AsyncGenerator<Part> {
        const next = { ...params, prompt: instructed(params.prompt, told) }
        const { stream } = await model.doStream(next)
        yield* continued(first, stream, pipelineFor(next, true) ?? pipeline)
      }
      return { ...result, stream: result.stream.pipeThrough(through(pipeline, again)) }
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      mustBeKnown(model)
      const result = await doGenerate()
      const pipeline = pipelineFor(params, false)
      if (!pipeline) return result
      const first = await whole(result, pipeline)
      const told = pipeline.askAgain?.()
      if (told === undefined) return first
      const next = { ...params, prompt: instructed(params.prompt, told) }
      const second = await whole(await model.doGenerate(next), pipelineFor(next, true) ?? pipeline)
      return { ...second, content: [...first.content, ...second.content], usage: sum(first.usage, second.usage) }
    },
  }
}

/** Another specification has other parts: to read them as these would lose some. */
function mustBeKnown({ specificationVersion }: { readonly specificationVersion: string }): void {
  if (specificationVersion === 'v4') return
  throw new Error(`@mulligan/ai-sdk knows models of AI SDK 7 (specification v4), and this one has ${specificationVersion}.`)
}

type Whole = Awaited<ReturnType<Parameters<NonNullable<LanguageModelV4Middleware['wrapGenerate']>>[0]['doGenerate']>>

async function whole(result: Whole, pipeline: Pipeline): Promise<Whole> {
  const { content, finishReason, usage } = result
  const parts: Part[] = []
  for (const part of [...partsOf(content), { type: 'finish' as const, finishReason, usage }]) parts.push(...(await pipeline.part(part)))
  const finish = parts.find((part) => part.type === 'finish')
  return { ...result, content: contentOf(parts, content), finishReason: finish?.finishReason ?? finishReason }
}

/** The parts of a second reply, as further parts of the first. */
async function* continued(first: Finish, stream: ReadableStream<Part>, pipeline: Pipeline): AsyncGenerator<Part> {
  const reader = stream.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read())
    for (const one of await pipeline.part(read.value))
      if (one.type === 'finish') yield { ...one, usage: sum(first.usage, one.usage) }
      // Text and thinking of both replies must not share an id; calls have ids of their own.
      else if (/^(?:text|reasoning)-/.test(one.type)) yield { ...one, id: `again-${(one as { readonly id: string }).id}` } as Part
      else if (one.type !== 'stream-start') yield one
  yield* pipeline.end()
}

type Counts = Readonly<Record<string, number | undefined>>

function sum(first: LanguageModelV4Usage, more: LanguageModelV4Usage): LanguageModelV4Usage {
  const both = <Some extends object>(a: Some, b: Some): Some => {
    const counts = { ...a, ...b } as Record<string, number | undefined>
    for (const key of Object.keys(counts)) {
      const [x, y] = [(a as Counts)[key], (b as Counts)[key]]
      counts[key] = x === undefined ? y : x + (y ?? 0)
    }
    return counts as Some
  }
  const { inputTokens, outputTokens } = first
  return { ...more, inputTokens: both(inputTokens, more.inputTokens), outputTokens: both(outputTokens, more.outputTokens) }
}

function through(pipeline: Pipeline, again: (told: string, first: Finish) => AsyncGenerator<Part>): TransformStream<Part, Part> {
  return new TransformStream({
    transform: async (part, controller) => {
      for (const one of await pipeline.part(part)) {
        const told = one.type === 'finish' ? pipeline.askAgain?.() : undefined
        if (told === undefined || one.type !== 'finish') controller.enqueue(one)
        else for await (const more of again(told, one)) controller.enqueue(more)
      }
    },
    flush: (controller) => {
      for (const one of pipeline.end()) controller.enqueue(one)
    },
  })
}
