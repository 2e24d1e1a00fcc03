/**
 * The live events of one session. Listeners get a durable event only once it is committed, so that an id which a client has seen is never
 * given to another event.
 */
import type { AgentEvent, Store } from '@mulligan/agent'

/** What a message that is being written says so far, for those who join late. Deltas are not stored. */
interface OpenMessage {
  readonly event: AgentEvent
  text: string
  reasoning: string
}

/** Milliseconds between two looks for events of turns that run in another process. */
const LOOK_EVERY = 500

export interface Feed {
  /** Takes an event of a turn that runs in this process. */
  readonly push: (event: AgentEvent) => void
  /** @returns what the message that is being written says so far, as events */
  readonly subscribe: (listener: (events: readonly AgentEvent[]) => void) => {
    readonly partial: readonly AgentEvent[]
    readonly end: () => void
  }
  /** Also sends events after this one that other processes store, as long as there are listeners. */
  readonly follow: (last: number) => void
  readonly listeners: () => number
}

/** @param onUnheard called when the last listener has left */
export function createFeed(
  store: Pick<Store, 'settled' | 'events' | 'lastEventId'>,
  sessionId: string,
  onUnheard: () => void = () => undefined,
): Feed {
  const listeners = new Set<(events: readonly AgentEvent[]) => void>()
  let pending: AgentEvent[] = []
  let sending: Promise<void> | undefined
  let open: OpenMessage | undefined
  let cursor = 0
  let timer: NodeJS.Timeout | undefined

  /** Sends what is pending, in order. What arrives meanwhile is sent together. */
  async function pump(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending
      pending = []
      // Without listeners there is nothing to wait for, and waiting would commit each batch on its own.
      if (listeners.size > 0 && batch.some(({ id }) => id !== undefined)) {
        try {
          await store.settled(sessionId)
        } catch {
          // Not committed: another process has taken the session over, or the disk is full. The turn itself reports it.
          continue
        }
      }
      send(batch)
    }
    sending = undefined
  }

  function send(events: readonly AgentEvent[]): void {
    for (const event of events) {
      cursor = Math.max(cursor, event.id ?? 0)
      note(event)
    }
    for (const listener of listeners) listener(events)
  }

  /** Looks for events of other processes. Those of this one are on their way already. */
  async function look(): Promise<void> {
    if (sending || (await store.lastEventId(sessionId)) <= cursor) return
    const events = await store.events({ sessionId, after: cursor })
    if (!sending) send(events.filter(({ id = 0 }) => id > cursor))
  }

  /** Keeps the text of the message that is being written. */
  function note(event: AgentEvent): void {
    if (event.type === 'message.created') open = { event, text: '', reasoning: '' }
    else if (event.type === 'message.completed' || event.type === 'message.discarded' || event.type === 'turn.ended') open = undefined
    else if (open && event.type === 'message.part.delta') open.text += event.text
    else if (open && event.type === 'reasoning.delta') open.reasoning += event.text
  }

  function partial(): readonly AgentEvent[] {
    if (open?.event.type !== 'message.created') return []
    const { turnId, at, messageId } = open.event
    const place = { sessionId, turnId, at, messageId }
    return [
      ...(open.reasoning === '' ? [] : [{ ...place, type: 'reasoning.delta', text: open.reasoning } as const]),
      ...(open.text === '' ? [] : [{ ...place, type: 'message.part.delta', text: open.text } as const]),
    ]
  }

  function end(listener: (events: readonly AgentEvent[]) => void): void {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
    onUnheard()
  }

  return {
    follow: (last) => {
      if (timer) return
      cursor = Math.max(cursor, last)
      timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY)
      timer.unref()
    },
    push: (event) => {
      pending.push(event)
      sending ??= Promise.resolve().then(pump)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return { partial: partial(), end: () => end(listener) }
    },
    listeners: () => listeners.size,
  }
}
