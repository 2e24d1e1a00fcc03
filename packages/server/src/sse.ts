/** Server-sent events with back-pressure: a client that reads too slowly is disconnected, and goes on from its last event id. */
import type { AgentEvent } from '@mulligan/agent'
import { type SourceOptions, streamEvents } from './event-source.ts'

/** Bytes that may wait for a client. */
const MAX_WAITING = 1_000_000
/** Milliseconds between comments that keep proxies from closing an idle connection. */
export const HEARTBEAT = 15_000

const encoder = new TextEncoder()
/** Events go to many clients at once, so each is encoded once. */
const encoded = new WeakMap<AgentEvent, Uint8Array>()

function bytesOf(event: AgentEvent): Uint8Array {
  const known = encoded.get(event)
  if (known) return known
  const id = event.id === undefined ? '' : `id: ${event.id}\n`
  const bytes = encoder.encode(`${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  encoded.set(event, bytes)
  return bytes
}

export const HEARTBEAT_BYTES = encoder.encode(': heartbeat\n\n')

/** No proxy may buffer or compress the stream. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

export interface Queue {
  /** Bytes that are not sent yet. */
  readonly waiting: () => number
  /** Bytes that the client has taken. */
  readonly taken: () => number
  /** Resolves when the client has read. */
  readonly drained: () => Promise<void>
  /** @returns false if the stream has ended */
  readonly put: (bytes: Uint8Array) => boolean
  readonly end: () => void
}

/** Creates a stream whose unread bytes are counted. */
export function countedStream(onCancel: () => void): { readonly stream: ReadableStream<Uint8Array>; readonly queue: Queue } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let given = 0
  let pulled = Promise.withResolvers<void>()
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (made) => {
        controller = made
      },
      pull: () => {
        pulled.resolve()
        pulled = Promise.withResolvers<void>()
      },
      cancel: () => {
        controller = undefined
        pulled.resolve()
        onCancel()
      },
    },
    { highWaterMark: 65_536, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  const waiting = (): number => (controller ? 65_536 - (controller.desiredSize ?? 0) : 0)
  return {
    stream,
    queue: {
      waiting,
      taken: () => given - waiting(),
      drained: () => (controller && (controller.desiredSize ?? 1) <= 0 ? pulled.promise : Promise.resolve()),
      put: (bytes) => {
        if (!controller) return false
        given += bytes.byteLength
        controller.enqueue(bytes)
        return true
      },
      end: () => {
        controller?.close()
        controller = undefined
        pulled.resolve()
      },
    },
  }
}

/** Returns whether the client has taken nothing since the last call, though there is something: it would be held forever. */
export function stallOf({ waiting, taken }: Queue): () => boolean {
  let before = -1
  return () => {
    const isStalled = waiting() > 0 && taken() === before
    before = taken()
    return isStalled
  }
}

/** @param onEvict called when a client was too slow */
export function eventStream(
  source: Omit<SourceOptions, 'send' | 'signal'>,
  signal: AbortSignal,
  onEnd: (evicted: boolean) => void,
  heartbeatMs = HEARTBEAT,
): Response {
  const gone = new AbortController()
  const both = AbortSignal.any([signal, gone.signal])
  const { stream, queue } = countedStream(() => gone.abort())
  let isSynced = false
  let evicted = false
  const isStalled = stallOf(queue)
  const heartbeat = setInterval(() => {
    if (isStalled()) {
      evicted = true
      gone.abort()
      return queue.end()
    }
    queue.put(HEARTBEAT_BYTES)
  }, heartbeatMs)
  heartbeat.unref()
  void streamEvents({
    ...source,
    signal: both,
    send: (one) => {
      if (one.kind === 'synced') isSynced = true
      const bytes =
        one.kind === 'event' ? bytesOf(one.event) : encoder.encode(`event: ${one.kind}\ndata: ${JSON.stringify({ last: one.last })}\n\n`)
      // Replay waits for the client; live events can't.
      if (isSynced && queue.waiting() + bytes.byteLength > MAX_WAITING) {
        evicted = true
        return false
      }
      if (!queue.put(bytes)) return false
      return isSynced ? true : queue.drained().then(() => true)
    },
  })
    .catch(() => undefined)
    .finally(() => {
      clearInterval(heartbeat)
      queue.end()
      onEnd(evicted)
    })
  return new Response(stream, { headers: STREAM_HEADERS })
}
