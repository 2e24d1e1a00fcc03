/** The time of a turn. */

export interface TurnClock {
  /** Aborted when the user stops the turn or its time is up. */
  readonly signal: AbortSignal
  /** It was the time, not the user. */
  readonly expired: () => boolean
  readonly stop: () => void
  /** Resolves after `ms` milliseconds, or at once when the signal is aborted. */
  readonly sleep: (ms: number) => Promise<void>
}

/** The turn's deadline and the user's stop as one signal. The timer holds the process open. */
export function startClock(seconds: number, user: AbortSignal): TurnClock {
  // One plain signal: listening to one that is composed of others costs several times as much, and each request does.
  const both = new AbortController()
  let expired = false
  const stop = (): void => both.abort(user.reason)
  const timer = Number.isFinite(seconds)
    ? setTimeout(() => {
        expired = !user.aborted
        both.abort(new Error('the turn ran out of time'))
      }, seconds * 1000)
    : undefined
  if (user.aborted) stop()
  else user.addEventListener('abort', stop, { once: true })
  const { signal } = both
  return {
    signal,
    expired: () => expired && !user.aborted,
    stop: () => {
      clearTimeout(timer)
      user.removeEventListener('abort', stop)
    },
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(pause)
          resolve()
        }
        const pause = setTimeout(done, ms)
        signal.addEventListener('abort', done, { once: true })
        if (signal.aborted) done()
      }),
  }
}
