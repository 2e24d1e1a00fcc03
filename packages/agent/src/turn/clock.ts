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
  const deadline = new AbortController()
  const timer = Number.isFinite(seconds)
    ? setTimeout(() => deadline.abort(new Error('the turn ran out of time')), seconds * 1000)
    : undefined
  const signal = AbortSignal.any([user, deadline.signal])
  return {
    signal,
    expired: () => deadline.signal.aborted && !user.aborted,
    stop: () => clearTimeout(timer),
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
