/** Sends a turn to a client of the AI SDK's UI message protocol, from the same events as the stream of its session. */
import type { AgentEvent, Store } from '@mulligan/agent'
import type { Approval } from '../contract.ts'
import { streamEvents } from '../event-source.ts'
import type { Feed } from '../feed.ts'
import { approvalOf } from '../present.ts'
import { countedStream, HEARTBEAT, HEARTBEAT_BYTES, STREAM_HEADERS, stallOf } from '../sse.ts'
import { createChunkMapper, type UiChunk } from './chunks.ts'

export interface UiStreamOptions {
  readonly store: Store
  readonly feed: Feed
  readonly sessionId: string
  readonly turnId: string
  /** The id of the last event before the turn. */
  readonly before: number
  /** The id of the last event that the client has seen of the turn. Default: none */
  readonly seen?: number
  /** Whether the turn waits, but is about to go on. Default false. */
  readonly goesOn?: boolean
}

/** Events that may wait for a client. A client that is further behind is disconnected, and resumes the stream. */
const MAX_WAITING = 10_000
/** Milliseconds between two looks for the questions of a turn, and the number of looks. They are stored right after the event. */
const LOOK_EVERY = 20
const LOOKS = 250

const encoder = new TextEncoder()
const bytesOf = (chunk: UiChunk | '[DONE]'): Uint8Array =>
  encoder.encode(`data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)

/** Returns the questions that a turn waits for. */
export async function questionsOf(store: Pick<Store, 'approval'>, ids: readonly string[]): Promise<readonly Approval[]> {
  const rows = await Promise.all(ids.map((id) => store.approval(id)))
  return rows.flatMap((row) => (row ? [approvalOf(row)] : []))
}

/**
 * @param closing ends the stream; the turn goes on
 * @param cut closes the connection before the message has ended, so that the client does not take it for complete
 */
export function uiMessageStream(options: UiStreamOptions, closing: AbortSignal, cut: () => void, heartbeatMs = HEARTBEAT): Response {
  const { store, sessionId, turnId, before, seen = 0, goesOn = false } = options
  const mapper = createChunkMapper(turnId)
  const gone = new AbortController()
  const ended = AbortSignal.any([closing, gone.signal])
  let isDone = false
  const end = (): void => {
    isDone = true
    gone.abort()
  }
  // The client has left.
  const { stream, queue } = countedStream(end)
  const isStalled = stallOf(queue)
  const heartbeat = setInterval(() => (isStalled() ? gone.abort() : queue.put(HEARTBEAT_BYTES)), heartbeatMs)
  heartbeat.unref()
  let isSynced = false
  let isWaiting = false
  let isExpected = goesOn

  const put = async (chunk: UiChunk): Promise<void> => {
    queue.put(bytesOf(chunk))
    await queue.drained()
  }

  async function questions(ids: readonly string[]): Promise<readonly Approval[]> {
    for (let look = 1; ; look++) {
      const found = await questionsOf(store, ids)
      if (found.length === ids.length || look === LOOKS || ended.aborted) return found
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
    }
  }

  /** @returns true at the end of the message */
  async function took(event: AgentEvent): Promise<boolean> {
    if (event.turnId !== turnId) return false
    const chunks = mapper.take(event, event.type === 'turn.waiting' ? await questions(event.approvals) : [])
    if (event.type === 'turn.waiting') isWaiting = true
    if (event.type === 'turn.started') {
      isWaiting = false
      if ((event.id ?? 0) > seen) isExpected = false
    }
    if ((event.id ?? Number.POSITIVE_INFINITY) > seen) for (const chunk of chunks) await put(chunk)
    if (event.type === 'turn.ended') return true
    return isSynced && parked()
  }

  const parked = (): boolean => isWaiting && !isExpected

  /** What is still to be sent, in order. */
  const waiting: (AgentEvent | 'synced')[] = []
  let wake = Promise.withResolvers<void>()

  async function pump(): Promise<void> {
    if (seen > 0) await put({ type: 'start', messageId: turnId })
    while (!ended.aborted) {
      const next = waiting.shift()
      if (next === undefined) {
        await wake.promise
        wake = Promise.withResolvers<void>()
        continue
      }
      if (next === 'synced') isSynced = true
      const isLast = next === 'synced' ? parked() : await took(next)
      if (!isLast) continue
      if (parked()) await put({ type: 'finish', finishReason: 'tool-calls' })
      queue.put(bytesOf('[DONE]'))
      queue.end()
      end()
    }
  }

  async function send(one: AgentEvent | 'synced'): Promise<boolean> {
    waiting.push(one)
    wake.resolve()
    if (!isSynced) await queue.drained()
    return !ended.aborted
  }

  const source = streamEvents({
    ...{ store, feed: options.feed, sessionId, after: before, signal: ended },
    send: (one) => {
      if (one.kind === 'reset' || waiting.length > MAX_WAITING) return false
      return send(one.kind === 'event' ? one.event : 'synced')
    },
  })
  ended.addEventListener('abort', () => {
    clearInterval(heartbeat)
    wake.resolve()
    if (!isDone) cut()
    // What waits for the client to read would wait forever.
    queue.end()
  })
  void source.finally(() => gone.abort()).catch(() => undefined)
  void pump().catch(() => gone.abort())
  return new Response(stream, { headers: { ...STREAM_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' } })
}
