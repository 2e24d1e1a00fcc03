/** The events of turns: numbers them, shows them at once and stores them in order. */
import { type AgentEvent, isDurable, type TurnEvent } from './events.ts'
import type { Store } from './store/store.ts'

export type Emit = (event: TurnEvent) => Promise<void>

/**
 * Returns whether an event announces an action. It is recorded before the action begins, so that a process which lost its session
 * stops.
 */
const isIntent = (event: TurnEvent): boolean => event.type === 'tool.started' && (event.effect !== 'read' || event.attempt !== undefined)

/** An event that is only shown. */
const SHOWN = Promise.resolve()

/** @param onEvent a listener, which can't break a turn: what it throws is ignored */
export function createEmitters(store: Store, onEvent: ((event: AgentEvent) => void) | undefined) {
  /** The latest event id of each session: one counter, which late events of an earlier turn also use. */
  const ids = new Map<string, number>()

  /** @param last the id of the session's last stored event */
  function goOnFrom(sessionId: string, last: number): void {
    ids.set(sessionId, Math.max(ids.get(sessionId) ?? 0, last))
  }

  /** Numbers an event. */
  function placed(sessionId: string, turnId: string, event: TurnEvent): AgentEvent {
    const at = Date.now()
    if (!isDurable(event)) return { ...event, sessionId, turnId, at }
    const id = (ids.get(sessionId) ?? 0) + 1
    ids.set(sessionId, id)
    return { ...event, id, sessionId, turnId, at }
  }

  function show(event: AgentEvent): void {
    try {
      onEvent?.(event)
    } catch {
      // The listener failed; ignore.
    }
  }

  /** @param last the id of the session's last stored event */
  function emitterFrom(sessionId: string, turnId: string, last: number): Emit {
    goOnFrom(sessionId, last)
    return (event) => {
      const one = placed(sessionId, turnId, event)
      show(one)
      return one.id === undefined ? SHOWN : store.append([one], isIntent(event) || event.type === 'session.rewound')
    }
  }

  const emitter = async (sessionId: string, turnId: string): Promise<Emit> =>
    emitterFrom(sessionId, turnId, await store.lastEventId(sessionId))

  return { emitter, emitterFrom, goOnFrom, placed, show }
}
