/** Passes the parts of a reply through a pipeline, for streamed and for complete replies. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Middleware,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { instructed } from './prompt.ts'

export type Part = LanguageModelV4StreamPart
export type FinishReason = LanguageModelV4FinishReason['unified']
export type PartOf<Type extends Part['type']> = Extract<Part, { type: Type }>

export interface Pipeline {
  /** The parts to pass on instead of a part. */
  readonly part: (part: Part) => readonly Part[] | Promise<readonly Part[]>
  /** At the end of the stream: what is still held back, if there was no finish part. `isFailed`: the stream ended in an error. */
  readonly end: (isFailed?: boolean) => readonly Part[]
  /** Whether a complete reply is passed on as it is. */
  readonly isWell?: (content: readonly LanguageModelV4Content[], reason: FinishReason) => boolean
  /** After the finish part: what to tell the model if it should be asked once to make a call properly. */
  readonly askAgain?: () => string | undefined
}

/** @param pipelineFor returns undefined for a request whose reply is not changed. `second`: the model was already asked again */
export function middlewareOf(
  pipelineFor: (params: LanguageModelV4CallOptions, second: boolean) => Pipeline | undefined,
): Required<Pick<LanguageModelV4Middleware, 'specificationVersion' | 'wrapStream' | 'wrapGenerate'>> {
  const secondRequest = (params: LanguageModelV4CallOptions, told: string) => ({ ...params, prompt: instructed(params.prompt, told) })
  return {
    specificationVersion: 'v4',
    wrapStream: async ({ doStream, params, model }) => {
      mustBeKnown(model)
      const result = await doStream()
      const pipeline = pipelineFor(params, false)
      if (!pipeline) return result
      const again = async (told: string, first: PartOf<'finish'>): Promise<ReadableStream<Part> | undefined> => {
        const next = secondRequest(params, told)
        const second = await orUndefined(() => model.doStream(next), params)
        return second && through(second.stream, continued(first, pipelineFor(next, true) ?? pipeline))
      }
      return { ...result, stream: through(result.stream, pipeline, again) }
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      mustBeKnown(model)
      const result = await doGenerate()
      const pipeline = pipelineFor(params, false)
      if (!pipeline || pipeline.isWell?.(result.content, result.finishReason.unified)) return result
      const first = await whole(result, pipeline)
      const told = pipeline.askAgain?.()
      if (told === undefined) return first
      const next = secondRequest(params, told)
      const reply = await orUndefined(() => model.doGenerate(next), params)
      if (!reply) return first
      const second = await whole(reply, pipelineFor(next, true) ?? pipeline)
      return { ...second, content: [...first.content, ...second.content], usage: sum(first.usage, second.usage) }
    },
  }
}

/** The reply to a second request; undefined if it failed, because the first reply is still good. */
async function orUndefined<T>(request: () => PromiseLike<T>, { abortSignal }: LanguageModelV4CallOptions): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (abortSignal?.aborted) throw error
    return undefined
  }
}

/** Another specification has other parts, some of which would be lost. */
function mustBeKnown({ specificationVersion }: { readonly specificationVersion: string }): void {
  if (specificationVersion !== 'v4')
    throw new Error(`@mulligan/ai-sdk supports models of AI SDK 7 (specification v4); this model uses ${specificationVersion}.`)
}

type Whole = Awaited<ReturnType<Parameters<NonNullable<LanguageModelV4Middleware['wrapGenerate']>>[0]['doGenerate']>>

async function whole(result: Whole, pipeline: Pipeline): Promise<Whole> {
  const { content, finishReason, usage } = result
  const parts: Part[] = []
  for (const part of [...partsOf(content), { type: 'finish' as const, finishReason, usage }]) parts.push(...(await pipeline.part(part)))
  const finish = parts.find((part) => part.type === 'finish')
  return { ...result, content: contentOf(parts, content), finishReason: finish?.finishReason ?? finishReason }
}

/** The content of a complete reply as stream parts. The id of a text or reasoning is its position. */
const partsOf = (content: readonly LanguageModelV4Content[]): readonly Part[] =>
  content.flatMap((one, at): readonly Part[] => {
    if (one.type !== 'text' && one.type !== 'reasoning') return [one]
    const id = `${at}`
    const { type, providerMetadata } = one
    const start: Part = { type: `${type}-start`, id, ...(providerMetadata && { providerMetadata }) }
    return [start, { type: `${type}-delta`, id, delta: one.text }, { type: `${type}-end`, id }]
  })

/** Stream parts that are also content parts. */
const CONTENT = /^(?:tool-(?:call|result|approval-request)|custom|file|reasoning-file|source)$/

function contentOf(parts: readonly Part[], original: readonly LanguageModelV4Content[]): LanguageModelV4Content[] {
  const content: LanguageModelV4Content[] = []
  const places = new Map<string, number>()
  for (const part of parts) {
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const type = part.type === 'text-start' ? 'text' : 'reasoning'
      const source = original[Number(part.id)]
      const hasText = source?.type === 'text' || source?.type === 'reasoning'
      places.set(part.id, content.push(hasText ? { ...source, text: '' } : { type, text: '' }) - 1)
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const at = places.get(part.id) ?? -1
      const grown = content[at]
      if (grown && 'text' in grown) content[at] = { ...grown, text: grown.text + part.delta }
    } else if (CONTENT.test(part.type)) content.push(part as LanguageModelV4Content)
  }
  return content
}

/** Passes on a second reply as the rest of the first. */
function continued(first: PartOf<'finish'>, pipeline: Pipeline): Pipeline {
  const more = (one: Part): readonly Part[] => {
    if (one.type === 'finish') return [{ ...one, usage: sum(first.usage, one.usage) }]
    return one.type === 'stream-start' ? [] : [asMore(one)]
  }
  return {
    part: async (one) => (await pipeline.part(one)).flatMap(more),
    end: (isFailed) => pipeline.end(isFailed).flatMap(more),
  }
}

/** Text and reasoning of the two replies must not share an id; calls have ids of their own. */
const asMore = (one: Part): Part =>
  /^(?:text|reasoning)-/.test(one.type) ? ({ ...one, id: `again-${(one as { readonly id: string }).id}` } as Part) : one

function sum(first: LanguageModelV4Usage, more: LanguageModelV4Usage): LanguageModelV4Usage {
  const both = <Counts extends object>(a: Counts, b: Counts): Counts => {
    const counts = { ...a } as Record<string, number | undefined>
    for (const [key, count] of Object.entries(b as Record<string, number | undefined>))
      counts[key] = count === undefined ? counts[key] : (counts[key] ?? 0) + count
    return counts as Counts
  }
  const { inputTokens, outputTokens } = first
  return { ...more, inputTokens: both(inputTokens, more.inputTokens), outputTokens: both(outputTokens, more.outputTokens) }
}

/** Parts that say something about a reply, and are no part of its content. */
const ABOUT_REPLY = /^(?:stream-start|response-metadata|raw)$/

function through(
  stream: ReadableStream<Part>,
  pipeline: Pipeline,
  again?: (told: string, first: PartOf<'finish'>) => Promise<ReadableStream<Part> | undefined>,
): ReadableStream<Part> {
  const reader = stream.getReader()
  /** The second reply, which is read before the end of the first, and that end until a part of the second has arrived. */
  let second: { readonly reader: ReadableStreamDefaultReader<Part>; end?: PartOf<'finish'> | undefined } | undefined
  let isCancelled = false
  let failed: { readonly error: unknown } | undefined

  /** Passes on what is held back before the stream fails, because an error discards what is queued. */
  function fail(error: unknown, controller: ReadableStreamDefaultController<Part>): void {
    failed = { error }
    const held = pipeline.end(true)
    if (held.length === 0) throw error
    for (const one of held) controller.enqueue(one)
  }

  async function begin(told: string, end: PartOf<'finish'>): Promise<void> {
    const stream = await again?.(told, end)
    if (stream && isCancelled) await stream.cancel()
    else if (stream) second = { reader: stream.getReader(), end }
  }

  /** The next part of the second reply. If it fails at once, this is the end of the first, which is still good. */
  async function partOfSecond(reply: NonNullable<typeof second>): Promise<Part | undefined> {
    const { reader, end } = reply
    try {
      const { done, value } = await reader.read()
      if (!done && !(end && value.type === 'error')) {
        if (!ABOUT_REPLY.test(value.type)) reply.end = undefined
        return value
      }
      if (!done) reader.cancel().catch(() => undefined)
    } catch (error) {
      if (!end) throw error
    }
    second = undefined
    return end
  }

  return new ReadableStream(
    {
      pull: async (controller) => {
        if (failed) throw failed.error
        for (let isEmpty = true; isEmpty; ) {
          const more = second && (await partOfSecond(second))
          if (more) return controller.enqueue(more)
          let read: Awaited<ReturnType<typeof reader.read>>
          try {
            read = await reader.read()
          } catch (error) {
            return fail(error, controller)
          }
          const passed = read.done ? pipeline.end() : pipeline.part(read.value)
          // Only promises are awaited: an unnecessary await costs more than the work.
          for (const one of passed instanceof Promise ? await passed : passed) {
            const told = one.type === 'finish' ? pipeline.askAgain?.() : undefined
            if (told !== undefined && one.type === 'finish') await begin(told, one)
            if (second) continue
            isEmpty = false
            controller.enqueue(one)
          }
          if (read.done) {
            controller.close()
            return
          }
        }
      },
      cancel: async (reason) => {
        isCancelled = true
        await Promise.all([second?.reader.cancel(reason), reader.cancel(reason)])
      },
    },
    // Parts are read on demand; a queue would only add overhead.
    { highWaterMark: 0 },
  )
}
