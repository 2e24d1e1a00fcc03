/** The client's requests that wait for an answer, each with a deadline that progress moves. */
import type { Clock } from '@mulligan/core/executor'
import type { Call } from './call.ts'
import { type Id, idKey, type Params } from './messages.ts'

export interface Waiting {
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** What is sent to the server. */
  readonly line: string
  readonly call?: Call
}

/** A request that waits. */
export interface Pending extends Waiting {
  isSent: boolean
  /** How often it was sent again to a new server. */
  replays: number
}

export interface Requests {
  readonly add: (request: Waiting) => Pending
  readonly has: (id: Id) => boolean
  /** Returns the request and ends its wait. */
  readonly take: (id: Id) => Pending | undefined
  readonly all: () => readonly Pending[]
  /** The server reports progress of the request with this token. */
  readonly progress: (token: unknown) => void
}

interface Timed extends Pending {
  readonly timer: AbortController
  readonly since: number
  due: number
  latest: number
}

/** Methods that end by themselves, so that one without an answer is given up. */
const TIMED = new Set([
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'completion/complete'],
  ...['resources/list', 'resources/templates/list', 'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'],
])

/**
 * @param timeout milliseconds without an answer or progress
 * @param maxTime milliseconds at most
 * @param isPaused returns whether a person is being asked, which takes as long as it takes
 * @param onDue called when a request is given up, with the seconds it took. It still waits then.
 */
export function createRequests(
  clock: Clock,
  { timeout, maxTime }: { readonly timeout: number; readonly maxTime: number },
  isPaused: () => boolean,
  onDue: (one: Pending, seconds: number) => void,
): Requests {
  const waiting = new Map<string, Timed>()

  async function watch(one: Timed): Promise<void> {
    for (;;) {
      await clock.sleep(Math.max(0, one.due - clock.now()), one.timer.signal)
      if (one.timer.signal.aborted) return
      const now = clock.now()
      if (isPaused()) {
        one.due = now + timeout
        one.latest = now + maxTime
      } else if (now >= one.due) return onDue(one, Math.round((now - one.since) / 1000))
    }
  }

  return {
    add(request) {
      const since = clock.now()
      const one: Timed = {
        ...request,
        ...{ isSent: false, replays: 0, timer: new AbortController(), since, due: since + timeout, latest: since + maxTime },
      }
      waiting.set(idKey(one.id), one)
      if (TIMED.has(one.method)) void watch(one)
      return one
    },
    has: (id) => waiting.has(idKey(id)),
    take(id) {
      const one = waiting.get(idKey(id))
      waiting.delete(idKey(id))
      one?.timer.abort()
      return one
    },
    all: () => [...waiting.values()],
    progress(token) {
      for (const one of waiting.values()) {
        const meta = one.params['_meta'] as Record<string, unknown> | undefined
        if (token !== undefined && meta?.['progressToken'] === token) one.due = Math.min(clock.now() + timeout, one.latest)
      }
    },
  }
}
