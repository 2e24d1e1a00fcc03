/** The clock of a turn. */
import { systemClock } from '@mulligan/core/executor'

export type TurnClock = ReturnType<typeof startClock>

/** Combines the turn's deadline and the user's stop into one signal. The timer keeps the process alive. */
export function startClock(seconds: number, user: AbortSignal) {
  // One plain signal: listening to a composed one costs several times as much, and each request listens.
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
  const signal: AbortSignal = both.signal
  return {
    /** Aborted when the user stops the turn or its time is up. */
    signal,
    /** Returns whether the time ran out, as opposed to a stop by the user. */
    expired: () => expired && !user.aborted,
    stop: () => {
      clearTimeout(timer)
      user.removeEventListener('abort', stop)
    },
    /** Resolves after `ms` milliseconds, or at once if the signal is aborted. */
    sleep: (ms: number): Promise<void> => systemClock.sleep(ms, signal),
  }
}
