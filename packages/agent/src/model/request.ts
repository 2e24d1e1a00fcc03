/**
 * Makes one model request through the contract that every AI SDK provider implements (`LanguageModelV4.doStream`). Calls are returned
 * as received, with the raw text of their arguments; interpreting them is the executor's job.
 */
import { setImmediate as nextTask } from 'node:timers/promises'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { MAX_CALLS_PER_REPLY } from '@mulligan/repair'
import type { ProviderMetadata, Usage } from '../history/message.ts'
import { BrokenStream, EndlessReply, SilentStream } from './fault.ts'
import { type Cut, createGathering, type Gathered, type GatherOptions, type ReplyPart } from './gather.ts'
import type { Sampling } from './model.ts'

export interface ModelRequest extends GatherOptions {
  readonly prompt: LanguageModelV4Prompt
  readonly tools: readonly LanguageModelV4FunctionTool[]
  /** Keeps the tools in the request but forbids calling them. */
  readonly noCalls: boolean
  readonly sampling?: Sampling
  readonly signal: AbortSignal
  /** Milliseconds of silence after the reply has begun until it is abandoned. Default: 300 s. */
  readonly maxSilence?: number
  /** Milliseconds between the request and the first new part until it is abandoned. Default: 3,600 s. */
  readonly maxWait?: number
}

export interface Reply extends Gathered {
  /**
   * The provider's unified finish reason; `repetition` if the reply was cut off because the model repeated itself, `reasoning-limit`
   * if it thought for too long.
   */
  readonly finishReason: string
  readonly usage: Usage
}

/** Maximum characters of text, reasoning, names and arguments in one reply: twice the output limit of the largest models. */
const MAX_REPLY = 1_000_000
/** Characters that each additional part of text or reasoning counts for, since even an empty one is stored. */
const PIECE = 100
const MAX_SILENCE = 300_000
const MAX_WAIT = 3_600_000
/** Milliseconds of reading after which timers and signals get to run. */
const SLICE = 20

/**
 * Makes a streaming request.
 * @throws whatever the provider throws, and {@link BrokenStream} if the stream ends without a finish, {@link SilentStream} if nothing
 * new arrives, {@link EndlessReply} if it does not end, and the signal's reason if it is aborted
 */
export async function requestModel(model: LanguageModelV4, request: ModelRequest): Promise<Reply> {
  const inner = new AbortController()
  const { signal } = inner
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined
  const abort = (reason: unknown): void => {
    inner.abort(reason)
    reader?.cancel().catch(() => undefined)
  }
  const stop = (): void => abort(request.signal.reason)
  if (request.signal.aborted) stop()
  else request.signal.addEventListener('abort', stop, { once: true })
  const { maxSilence = MAX_SILENCE, maxWait = MAX_WAIT } = request
  const giveUpAfter = (ms: number, begun: boolean): NodeJS.Timeout => setTimeout(() => abort(new SilentStream(ms, begun)), ms)
  /** The first part may take a while, since the model may have to be loaded. Some clients read up to it before they return the stream. */
  const wait = giveUpAfter(maxWait, false)
  const { stream } = await unlessAborted(model.doStream(options(request, signal)), signal).catch((error: unknown) => {
    clearTimeout(wait)
    request.signal.removeEventListener('abort', stop)
    throw error
  })
  const gathering = createGathering(request)
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  let finishReason: string | undefined
  let cut: Cut | undefined
  let received = 0
  const sizeOf = createSizer()

  reader = stream.getReader()
  let ended = false
  let silence: NodeJS.Timeout | undefined
  const heard = () => {
    clearTimeout(wait)
    silence?.refresh()
    silence ??= giveUpAfter(maxSilence, true)
  }
  let yielded = performance.now()
  try {
    reading: for (;;) {
      const { done, value: part } = await reader.read()
      // Parts that have already arrived are read without yielding to the event loop, no matter how many there are.
      if (performance.now() - yielded > SLICE) {
        await nextTask()
        yielded = performance.now()
      }
      signal.throwIfAborted()
      ended = done
      if (done) break
      if (isNew(part)) heard()
      // Every part counts, even one without characters.
      received += sizeOf(part)
      if (received > MAX_REPLY) throw new EndlessReply(MAX_REPLY)
      switch (part.type) {
        case 'text-start':
        case 'text-end':
          gathering.open('text', part.id, part.providerMetadata)
          break
        case 'reasoning-start':
        case 'reasoning-end':
          gathering.open('reasoning', part.id, part.providerMetadata)
          break
        case 'text-delta':
        case 'reasoning-delta':
          cut = gathering.add(part.type === 'text-delta' ? 'text' : 'reasoning', part.id, part.delta, part.providerMetadata)
          if (cut) break reading
          break
        case 'tool-call':
          if (!part.providerExecuted) gathering.addCall(callPart(part))
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
    clearTimeout(wait)
    clearTimeout(silence)
    request.signal.removeEventListener('abort', stop)
    if (!ended) abort(undefined)
  }
  if (cut) return { parts: gathering.withoutCalls(), finishReason: cut, usage, unclear: false, quoted: [] }
  if (finishReason === undefined || finishReason === 'interrupted') throw new BrokenStream()
  return { ...gathering.finish(), finishReason, usage }
}

/**
 * Returns how much of {@link MAX_REPLY} each part uses. The characters of dropped calls count for little, so that even many calls can
 * still be counted while a limit remains.
 */
function createSizer(): (part: LanguageModelV4StreamPart) => number {
  /** Kept calls that arrived in deltas and were counted there. */
  const streamed = new Set<string>()
  let begun = 0
  const dropped = (characters: number): number => 1 + (characters >> 6)
  return (part) => {
    switch (part.type) {
      case 'tool-input-start': {
        if (++begun > MAX_CALLS_PER_REPLY) return dropped(part.toolName.length)
        streamed.add(part.id)
        return 1 + part.toolName.length
      }
      case 'tool-input-delta':
        return streamed.has(part.id) || begun <= MAX_CALLS_PER_REPLY ? Math.max(1, part.delta.length) : dropped(part.delta.length)
      case 'tool-call': {
        if (streamed.has(part.toolCallId)) return 1
        const characters = (part.toolName?.length ?? 0) + (part.input?.length ?? 0)
        return ++begun > MAX_CALLS_PER_REPLY ? dropped(characters) : 1 + characters
      }
      case 'text-start':
      case 'reasoning-start':
        return PIECE
      default:
        return 'delta' in part ? Math.max(1, part.delta.length) : 1
    }
  }
}

/**
 * Rejects when the signal is aborted, even if the provider ignores it. The listener is removed when the work is done; otherwise the
 * request with all its messages would stay in memory for the rest of the turn.
 */
async function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = (): void => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  work.then(resolve, reject)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Returns whether a part is new content. Pings and the starts of parts that may stay empty do not count. */
const isNew = (part: LanguageModelV4StreamPart): boolean =>
  'delta' in part ? part.delta !== '' : part.type === 'tool-input-start' || part.type === 'tool-call'

/**
 * Makes the same request without streaming, for servers that cannot stream or never signal the end. The thinking limit does not apply,
 * since the thinking is already over.
 */
export async function requestWhole(model: LanguageModelV4, request: ModelRequest): Promise<Reply> {
  const { content, finishReason, usage } = await model.doGenerate(options(request, request.signal))
  const length = content.reduce(
    (sum, part) => sum + ('text' in part ? part.text.length : 'input' in part ? String(part.input).length : 0),
    0,
  )
  if (length > MAX_REPLY) throw new EndlessReply(MAX_REPLY)
  const { maxReasoning: _, ...whole } = request
  const gathering = createGathering(whole)
  let repeats: Cut | undefined
  for (const [at, part] of content.entries()) {
    if (part.type === 'text' || part.type === 'reasoning')
      repeats ??= gathering.add(part.type, String(at), part.text, part.providerMetadata)
    else if (part.type === 'tool-call' && !part.providerExecuted) gathering.addCall(callPart(part))
  }
  const spent = usageOf(usage)
  if (repeats) return { parts: gathering.withoutCalls(), finishReason: repeats, usage: spent, unclear: false, quoted: [] }
  return { ...gathering.finish(), finishReason: finishReason.unified, usage: spent }
}

const options = ({ prompt, tools, noCalls, sampling }: ModelRequest, abortSignal: AbortSignal): LanguageModelV4CallOptions => ({
  prompt,
  ...sampling,
  ...(tools.length > 0 && { tools: [...tools], toolChoice: { type: noCalls ? ('none' as const) : ('auto' as const) } }),
  abortSignal,
})

const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage => ({
  inputTokens: inputTokens.total ?? 0,
  outputTokens: outputTokens.total ?? 0,
  ...(inputTokens.cacheRead && { cachedTokens: inputTokens.cacheRead }),
})

/** Converts a call as received; servers may omit required fields. */
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
