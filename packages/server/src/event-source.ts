/**
 * The events of a session from a cursor on: first those in the store, then a mark where replay ends, then live ones, without a gap or a
 * repetition in between.
 */
import type { AgentEvent, Store } from '@mulligan/agent'
import type { Feed } from './feed.ts'

/** `reset`: the cursor is ahead of the session, so everything is sent again. */
export type SourceEvent =
  | { readonly kind: 'event'; readonly event: AgentEvent }
  | { readonly kind: 'synced' | 'reset'; readonly last: number }

/** Events sent from the store at once. */
const PAGE = 1000

export interface SourceOptions {
  readonly store: Pick<Store, 'events' | 'lastEventId'>
  readonly feed: Feed
  readonly sessionId: string
  readonly after: number
  readonly signal: AbortSignal
  /** Called in order. What it returns is awaited during replay, so that a slow client slows it down. @returns false to end the stream */
  readonly send: (event: SourceEvent) => boolean | Promise<boolean>
}

/** Resolves when the signal is aborted, or `send` returns false. */
export async function streamEvents({ store, feed, sessionId, after, signal, send }: SourceOptions): Promise<void> {
  const ended = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => ended.resolve())
  let isLive = false
  let cursor = after
  const early: AgentEvent[] = []
  const finished = new Set<string>()

  /** Sends an event unless it was sent already. Of a message that replay has completed, deltas are too late. */
  function pass(event: AgentEvent): boolean | Promise<boolean> {
    if (event.id !== undefined) {
      if (event.id <= cursor) return true
      cursor = event.id
    } else if ('messageId' in event && finished.has(event.messageId)) return true
    return send({ kind: 'event', event })
  }

  const live = (events: readonly AgentEvent[]): void => {
    if (!isLive) early.push(...events)
    else if (events.some((event) => !signal.aborted && pass(event) === false)) ended.resolve()
  }

  // Before the store is read: what is committed meanwhile comes from both, and is sent once.
  const subscription = feed.subscribe(live)
  try {
    const last = await store.lastEventId(sessionId)
    feed.follow(last)
    if (cursor > last) {
      cursor = 0
      if (!(await send({ kind: 'reset', last }))) return
    }
    const replay = await store.events({ sessionId, after: cursor })
    for (const event of replay) {
      if (event.type === 'message.completed' || event.type === 'message.discarded') finished.add(event.messageId)
      if (signal.aborted || !(await pass(event))) return
    }
    for (const event of subscription.partial) if (!(await pass(event))) return
    if (!(await send({ kind: 'synced', last: cursor }))) return
    while (early.length > 0) for (const event of early.splice(0, PAGE)) if (signal.aborted || !(await pass(event))) return
    isLive = true
    await ended.promise
  } finally {
    subscription.end()
  }
}
