/**
 * A model of Ollama, over `POST /api/chat`. Ollama's OpenAI-compatible API would do, but it cannot set the context size, and it silently
 * truncates a prompt that does not fit.
 */
import { randomUUID } from 'node:crypto'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { boundedFetch } from '../bounded-fetch.ts'
import { patientFetch } from '../patient-fetch.ts'
import { type BodySettings, chatBody } from './body.ts'
import { createGauge, estimateOf, wasCut } from './cut.ts'
import { ollamaFault } from './fault.ts'
import { lines } from './ndjson.ts'
import { createReplyReader, type Ending } from './reply.ts'
import { asObject, type ChatBody } from './wire.ts'

export interface OllamaModelOptions extends BodySettings {
  /** The server's URL, without a trailing slash. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Called with a warning for the user: the prompt was cut, or the reply filled the context. */
  readonly onWarning: (message: string) => void
  /** Called when the first line of a reply arrives. */
  readonly onBegun: () => void
  /** Called at the end of a reply, and awaited. Must not throw. */
  readonly onEnded: () => Promise<void>
}

/** One line of a reply is one object, including calls with all their arguments. */
const fetchLines = boundedFetch(patientFetch, 'line')

export function ollamaModel(settings: OllamaModelOptions): LanguageModelV4 {
  const { model, numCtx } = settings
  const url = `${settings.url}/api/chat`
  const source = { model, numCtx, url }
  const gauge = createGauge()
  const newId = (): string => `call_${randomUUID()}`

  /** Sends a request. @throws APICallError, and what `fetch` throws */
  async function post(body: ChatBody, { abortSignal, headers }: LanguageModelV4CallOptions): Promise<ReadableStream<Uint8Array>> {
    const sent = { ...settings.headers, ...headers, 'content-type': 'application/json' }
    const response = await fetchLines(url, {
      method: 'POST',
      headers: Object.fromEntries(Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined)),
      body: JSON.stringify(body),
      ...(abortSignal && { signal: abortSignal }),
    })
    if (response.ok && response.body) return response.body
    throw ollamaFault(response.status, await response.text(), Object.fromEntries(response.headers), source)
  }

  /** Computes the token usage, and warns if the counts show that something was lost. */
  function settle(estimate: number, { promptTokens, cachedTokens, outputTokens, finishReason }: Ending): LanguageModelV4Usage {
    const expected = gauge.expect(estimate)
    const cut = wasCut(expected, promptTokens, numCtx)
    if (cut) settings.onWarning(cutText(expected.tokens, promptTokens, numCtx))
    else if (finishReason.unified === 'length' && (promptTokens ?? expected.tokens) + (outputTokens ?? 0) >= numCtx - 2)
      settings.onWarning(
        `The reply of ${model} ended because its context of ${numCtx.toLocaleString('en')} tokens was full. MULLIGAN_CONTEXT changes it.`,
      )
    if (!cut && promptTokens !== undefined) gauge.learn(estimate, promptTokens)
    // A count without the tokens that were cut or cached does not show how full the context is.
    const isWhole = !cut && (promptTokens ?? 0) > expected.tokens / 2
    const total = isWhole ? promptTokens : Math.max(promptTokens ?? 0, expected.tokens)
    return {
      inputTokens: { total, noCache: undefined, cacheRead: cachedTokens, cacheWrite: undefined },
      outputTokens: { total: outputTokens, text: undefined, reasoning: undefined },
    }
  }

  async function* parts(body: ChatBody, bytes: ReadableStream<Uint8Array>): AsyncGenerator<LanguageModelV4StreamPart> {
    const reader = createReplyReader(newId)
    yield { type: 'stream-start', warnings: [] }
    for await (const line of lines(bytes)) {
      settings.onBegun()
      const chunk = asObject(line)
      if (chunk['error'] !== undefined) throw ollamaFault(500, JSON.stringify(chunk), {}, source)
      const given = reader.push(chunk)
      // Report lines without content too: a reply that consists only of them must not go on forever.
      if (given.length === 0) yield { type: 'ping' }
      yield* given
      if (reader.ending()) break
    }
    yield* reader.close()
    const ending = reader.ending()
    // The reply was cut off: the missing finish part shows that.
    if (!ending) return
    await settings.onEnded()
    yield { type: 'finish', finishReason: ending.finishReason, usage: settle(estimateOf(body), ending) }
  }

  return {
    specificationVersion: 'v4',
    provider: 'ollama',
    modelId: model,
    supportedUrls: {},

    doStream: async (options) => {
      const body = chatBody(options, settings, true)
      const stop = new AbortController()
      const abortSignal = options.abortSignal ? AbortSignal.any([options.abortSignal, stop.signal]) : stop.signal
      const reading = parts(body, await post(body, { ...options, abortSignal }))
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        pull: async (controller) => {
          const { done, value } = await reading.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: () => stop.abort(),
      })
      return { stream, request: { body } }
    },

    doGenerate: async (options) => {
      const body = chatBody(options, settings, false)
      const content: LanguageModelV4Content[] = []
      let finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined
      for await (const part of parts(body, await post(body, options))) {
        if (part.type === 'text-delta') content.push({ type: 'text', text: part.delta })
        else if (part.type === 'reasoning-delta') content.push({ type: 'reasoning', text: part.delta })
        else if (part.type === 'tool-call') content.push(part)
        else if (part.type === 'finish') finish = part
      }
      if (!finish) throw ollamaFault(502, '{"error":"the reply is incomplete"}', {}, source)
      return { content, finishReason: finish.finishReason, usage: finish.usage, warnings: [], request: { body } }
    },
  }
}

function cutText(expected: number, counted: number | undefined, numCtx: number): string {
  const says = (tokens: number): string => tokens.toLocaleString('en')
  const read = counted === undefined ? 'did not report how many it read' : `read ${says(counted)}`
  const what =
    expected > (counted ?? 0) ? `cut the prompt: of about ${says(expected)} tokens it ${read}` : `has no room left: it ${read} tokens`
  return `Ollama ${what}. Its context is ${says(numCtx)} tokens. The answer may ignore the beginning. MULLIGAN_CONTEXT sets a larger context.`
}
