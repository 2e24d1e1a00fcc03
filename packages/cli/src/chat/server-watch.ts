/** Shows what the model's server reports while the chat waits, such as loading a model. */

/** Milliseconds between status requests, and the timeout of one. */
const EVERY = 3000
const WITHIN = 2000

/**
 * @param isWaiting whether the chat is waiting for the model
 * @param tell receives the status; undefined if there is none
 * @returns a function that stops it
 */
export function watchServer(
  status: ((signal: AbortSignal) => Promise<string | undefined>) | undefined,
  isWaiting: () => boolean,
  tell: (says: string | undefined) => void,
): () => void {
  if (!status) return () => undefined
  const ended = new AbortController()
  let isLooking = false
  const timer = setInterval(async () => {
    if (isLooking || !isWaiting()) return
    isLooking = true
    const says = await status(AbortSignal.any([ended.signal, AbortSignal.timeout(WITHIN)])).catch(() => undefined)
    isLooking = false
    if (!ended.signal.aborted) tell(says)
  }, EVERY)
  return () => {
    clearInterval(timer)
    ended.abort()
    tell(undefined)
  }
}
