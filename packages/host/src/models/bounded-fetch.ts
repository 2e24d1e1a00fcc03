/**
 * What a model server sends, counted as it arrives: all that comes after this (the repair of streams, the parsers of provider
 * packages) joins pieces until a line or an event is whole, and would do so until memory ends. Bytes are counted after they
 * were decompressed. Headers have the limit of Node, 16 kB.
 */
import { OversizedReply } from '@mulligan/agent'

const MB = 1024 * 1024

export interface ReplyLimits {
  /** Bytes of one event of a stream, up to its blank line; also of a JSON body that does not stream. */
  readonly event: number
  /** Bytes of one line where every line is an object. */
  readonly line: number
  /** Bytes of the whole reply: 200,000 tokens, each in an event of its own. */
  readonly reply: number
  /** Bytes of an error that are read. A call that the server could not parse comes in one. */
  readonly error: number
  /** Milliseconds in which an error must have come; what is there by then is shown. */
  readonly errorWithin: number
}

export const REPLY_LIMITS: ReplyLimits = { event: 4 * MB, line: 4 * MB, reply: 64 * MB, error: MB, errorWithin: 10_000 }

/** What must end within its limit: all up to a blank line, or each line. */
export type Unit = 'event' | 'line'

/** `fetch` whose bodies end with an {@link OversizedReply} where they pass a limit, and whose error bodies are cut there. */
export function boundedFetch(fetch: typeof globalThis.fetch, unit: Unit = 'event', limits: ReplyLimits = REPLY_LIMITS): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.body) return response
    const body = response.ok ? bounded(response.body, unit, limits) : cut(response.body, limits)
    const { status, statusText, headers, url, redirected } = response
    // A constructed response has neither of its own.
    return Object.defineProperties(new Response(body, { status, statusText, headers }), {
      url: { value: url },
      redirected: { value: redirected },
    })
  }
}

const LF = 10
const CR = 13

/** The bytes as they are, up to the first limit that they pass. */
function bounded(body: ReadableStream<Uint8Array>, unit: Unit, limits: ReplyLimits): ReadableStream<Uint8Array> {
  let total = 0
  let open = 0
  let line = 0
  let last: number | undefined
  const most = limits[unit]

  /** What is too large, once these bytes have come. */
  function excess(bytes: Uint8Array): string | undefined {
    total += bytes.length
    if (total > limits.reply) return `a reply of more than ${inMb(limits.reply)}`
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (++open > most) return `${unit === 'line' ? 'a line' : 'an event'} of more than ${inMb(most)}`
      if (byte === LF) {
        // An event ends with an empty line; a lone CR ends nothing, so that no reader waits for longer than is counted here.
        if (unit === 'line' || line === 0 || (line === 1 && last === CR)) open = 0
        line = 0
      } else line++
      last = byte
    }
    return undefined
  }

  return passedOn(body, (bytes, { enqueue, fail }) => {
    const what = excess(bytes)
    if (what === undefined) enqueue(bytes)
    else fail(new OversizedReply(what))
  })
}

/** The beginning of an error, which ends in order whatever the server goes on to send. */
function cut(body: ReadableStream<Uint8Array>, { error, errorWithin }: ReplyLimits): ReadableStream<Uint8Array> {
  let left = error
  return passedOn(
    body,
    (bytes, { enqueue, end }) => {
      enqueue(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) end()
    },
    errorWithin,
  )
}

interface Passing {
  readonly enqueue: (bytes: Uint8Array) => void
  readonly end: () => void
  readonly fail: (error: Error) => void
}

/** A stream of what `take` makes of each portion. Where that ends it, the server is hung up on. @param within milliseconds until it ends by itself */
function passedOn(
  body: ReadableStream<Uint8Array>,
  take: (bytes: Uint8Array, passing: Passing) => void,
  within?: number,
): ReadableStream<Uint8Array> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  let timer: NodeJS.Timeout | undefined
  const hangUp = (): void => {
    clearTimeout(timer)
    reader.cancel().catch(() => undefined)
  }
  return new ReadableStream<Uint8Array>(
    {
      start() {
        // A reader that is cancelled is at its end: what has come by then is all.
        if (within !== undefined) timer = setTimeout(hangUp, within)
      },
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          clearTimeout(timer)
          return controller.close()
        }
        take(value, {
          enqueue: (bytes) => controller.enqueue(bytes),
          end: () => {
            hangUp()
            controller.close()
          },
          fail: (error) => {
            hangUp()
            controller.error(error)
          },
        })
      },
      cancel: (reason) => {
        clearTimeout(timer)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

const inMb = (bytes: number): string => (bytes < MB ? `${bytes.toLocaleString('en')} bytes` : `${bytes / MB} MB`)
