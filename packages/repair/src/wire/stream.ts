/** A streamed reply on its way through: every event that needs no repair leaves as the bytes it came in. */
import { droppedCalls } from '../limits.ts'
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { droppedIn, missingEnd, NO_REPLY, type Repaired, type Reply, type Rules, repairChunk } from './chunk.ts'
import { asChunks, rawOutput } from './failed-parse.ts'
import { parseJson } from './json.ts'
import { formatEvent, type SseEvent, SseSplitter } from './sse.ts'
import { tell } from './tell.ts'

export interface StreamOptions extends Rules {
  readonly onRepair?: ((repair: Repair) => void) | undefined
  readonly maxEventBytes?: number
}

/** Reads no further than it is read itself; cancel and errors pass through as they are. */
export function repairStream(body: ReadableStream<Uint8Array>, options: StreamOptions): ReadableStream<Uint8Array> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const splitter = new SseSplitter(options.maxEventBytes)
  let reply = NO_REPLY
  let dropped = 0
  const send = (events: readonly SseEvent[], controller: ReadableStreamDefaultController<Uint8Array>): boolean => {
    for (const event of events) {
      const next = repairEvent(reply, event, options)
      dropped = Math.max(dropped, droppedIn(next.reply))
      reply = next.reply
      for (const bytes of next.out) controller.enqueue(bytes)
      for (const repair of next.repairs) tell(options.onRepair, repair)
    }
    return events.length > 0
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const part = await reader.read()
          if (!part.done && !send(splitter.push(part.value), controller)) continue
          if (!part.done) return
          const last = splitter.end()
          if (last) send([last], controller)
          if (dropped > 0) tell(options.onRepair, droppedCalls(dropped))
          return controller.close()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

interface RepairedEvent {
  readonly reply: Reply
  readonly out: readonly Uint8Array[]
  readonly repairs: readonly Repair[]
}

function repairEvent(reply: Reply, event: SseEvent, rules: Rules): RepairedEvent {
  const data = event.data?.trim()
  if (data === undefined || data === '') return { reply, out: [event.raw], repairs: [] }
  if (data === '[DONE]') {
    const { chunks, repairs } = missingEnd(reply)
    return { reply: NO_REPLY, out: [...chunks.map((chunk) => formatEvent(chunk)), event.raw], repairs }
  }
  const body = parseJson(data)
  if (!isRecord(body)) return { reply, out: [event.raw], repairs: [] }
  if (Array.isArray(body['choices'])) return written(event, repairChunk(reply, body, rules))
  return failedParse(reply, event, body) ?? { reply, out: [event.raw], repairs: [] }
}

function written(event: SseEvent, { reply, before, chunk, repairs }: Repaired): RepairedEvent {
  const own = chunk ? formatEvent(chunk, event.fields, event.ended) : event.raw
  return { reply, out: [...before.map((one) => formatEvent(one)), own], repairs }
}

/** An error in the middle of a stream. After a call began, its text might tell of the same call again: then it stays an error. */
function failedParse(reply: Reply, event: SseEvent, body: unknown): RepairedEvent | undefined {
  const raw = rawOutput(body)
  if (raw === undefined || !event.ended || [...reply.choices.values()].some((choice) => choice.calls.length > 0)) return undefined
  const chunks = asChunks(raw, reply.head)
  const ended: Reply = { head: reply.head, choices: new Map([[0, { calls: [], reason: 'stop' }]]) }
  const repair: Repair = {
    kind: 'wire',
    from: body,
    to: raw,
    why: 'the server could not read the call: the text of the model is handed on',
  }
  return { reply: ended, out: chunks.map((chunk) => formatEvent(chunk)), repairs: [repair] }
}
