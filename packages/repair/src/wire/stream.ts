/** Repairs a streamed reply. Events without repairs are passed on as the bytes received. */
import { droppedCalls } from '../limits.ts'
import { isRecord } from '../schema/validate.ts'
import { tryJson } from '../text.ts'
import { missingEnd, type Reply, repairChunk } from './chunk.ts'
import { asChunks, handedOn } from './failed-parse.ts'
import { type Rules, tell } from './rules.ts'
import { formatEvent, type SseEvent, SseSplitter } from './sse.ts'

export interface StreamOptions extends Rules {
  readonly maxEventBytes?: number
}

/** Reads only as fast as its consumer. Cancellation and errors pass through unchanged. */
export function repairStream(body: ReadableStream<Uint8Array>, options: StreamOptions): ReadableStream<Uint8Array> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const splitter = new SseSplitter(options.maxEventBytes)
  const reply: Reply = { head: {}, choices: new Map(), dropped: 0 }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          const last = done ? splitter.end() : undefined
          const events = done ? (last ? [last] : []) : splitter.push(value)
          for (const event of events) for (const bytes of repairEvent(reply, event, options)) controller.enqueue(bytes)
          if (done && reply.dropped > 0) tell(options, droppedCalls(reply.dropped))
          if (done) return controller.close()
          if (events.length > 0) return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function repairEvent(reply: Reply, event: SseEvent, rules: Rules): readonly Uint8Array[] {
  const data = event.data?.trim() ?? ''
  if (data === '[DONE]') {
    const chunks = missingEnd(reply, rules)
    reply.choices.clear()
    reply.head = {}
    return [...chunks.map((chunk) => formatEvent(chunk)), event.raw]
  }
  const body = tryJson(data)
  if (!isRecord(body)) return [event.raw]
  const { choices } = body
  if (Array.isArray(choices)) {
    const out = repairChunk(reply, body, choices, rules)
    return out.map((one, at) =>
      one === body ? event.raw : at < out.length - 1 ? formatEvent(one) : formatEvent(one, event.fields, event.ended),
    )
  }
  // An error in the middle of a stream. After a call has begun, the error's text might contain the same call again, so it stays an
  // error.
  const hasCalls = [...reply.choices.values()].some(({ calls }) => calls.length > 0)
  const raw = event.ended && !hasCalls ? handedOn(body, rules) : undefined
  if (raw === undefined) return [event.raw]
  const out = asChunks(raw, reply.head).map((chunk) => formatEvent(chunk))
  reply.choices.clear()
  reply.choices.set(0, { calls: [], reason: 'stop', foreign: false })
  return out
}
