/**
 * Limits the size of what a model server sends, counting bytes as they arrive. The code that reads it (stream repair, the parsers of
 * provider packages) joins chunks until a line or an event is complete, and would otherwise do so until memory runs out. Bytes are counted
 * after decompression. Headers are limited by Node, to 16 kB.
 */
import { OversizedReply, WebPageReply } from '@mulligan/agent'

const MB = 1024 * 1024

export interface ReplyLimits {
  /** Bytes of one event of a stream, up to its blank line; also of a JSON body that is not a stream. */
  readonly event: number
  /** Bytes of one line, for streams with one object per line. */
  readonly line: number
  /** Bytes of the whole reply. The default fits 200,000 tokens, each in its own event. */
  readonly reply: number
  /** Bytes of an error body that are read. It may contain a call that the server could not parse. */
  readonly error: number
  /** Milliseconds to wait for an error body; what has arrived by then is shown. */
  readonly errorWithin: number
}

export const REPLY_LIMITS: ReplyLimits = { event: 4 * MB, line: 4 * MB, reply: 64 * MB, error: MB, errorWithin: 10_000 }

/** The unit that must end within its limit: an event, which ends with a blank line, or a line. */
export type Unit = 'event' | 'line'

/** The address without its query, which may contain a key. */
function pathOf(input: Parameters<typeof fetch>[0]): string {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
  return origin + pathname
}

/**
 * Wraps `fetch`: bodies that exceed a limit fail with an {@link OversizedReply}, web pages with a {@link WebPageReply}, and error bodies
 * are truncated.
 */
export function boundedFetch(fetch: typeof globalThis.fetch, unit: Unit = 'event', limits: ReplyLimits = REPLY_LIMITS): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.body) return response
    if (response.ok && response.headers.get('content-type')?.startsWith('text/html')) {
      await response.body.cancel()
      throw new WebPageReply(pathOf(input))
    }
    const body = response.ok ? bounded(response.body, unit, limits) : cut(response.body, limits)
    const { status, statusText, headers, url, redirected } = response
    // A constructed response does not have these.
    return Object.defineProperties(new Response(body, { status, statusText, headers }), {
      url: { value: url },
      redirected: { value: redirected },
    })
  }
}

const LF = 10
const CR = 13

/** Passes the bytes through unchanged until a limit is exceeded. */
function bounded(body: ReadableStream<Uint8Array>, unit: Unit, limits: ReplyLimits): ReadableStream<Uint8Array> {
  let total = 0
  let open = 0
  let line = 0
  let last: number | undefined
  const most = limits[unit]

  /** Counts these bytes and names the limit that they exceed, if any. */
  function excess(bytes: Uint8Array): string | undefined {
    total += bytes.length
    if (total > limits.reply) return `a reply of more than ${inMb(limits.reply)}`
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (++open > most) return `${unit === 'line' ? 'a line' : 'an event'} of more than ${inMb(most)}`
      if (byte === LF) {
        // An event ends with an empty line. A lone CR does not count as a line end, so readers never buffer more than is counted here.
        if (unit === 'line' || line === 0 || (line === 1 && last === CR)) open = 0
        line = 0
      } else line++
      last = byte
    }
    return undefined
  }

  // A stream that pulls costs less than half of one that is piped through.
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        const what = excess(value)
        if (what === undefined) return controller.enqueue(value)
        const error = new OversizedReply(what)
        reader.cancel(error).catch(() => undefined)
        throw error
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Passes on the beginning of an error body and then ends normally, whatever else the server sends. */
function cut(body: ReadableStream<Uint8Array>, { error, errorWithin }: ReplyLimits): ReadableStream<Uint8Array> {
  let left = error
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => clearTimeout(timer)
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        timer = setTimeout(() => controller.terminate(), errorWithin)
      },
      transform: (bytes, controller) => {
        controller.enqueue(bytes.subarray(0, left))
        left -= bytes.length
        if (left > 0) return
        stop()
        controller.terminate()
      },
      flush: stop,
      cancel: stop,
    }),
  )
}

const inMb = (bytes: number): string => (bytes < MB ? `${bytes.toLocaleString('en')} bytes` : `${bytes / MB} MB`)
