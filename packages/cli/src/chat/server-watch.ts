/** Shows what the model's server reports while the chat waits, such as loading a model. */

export type ServerStatus = (signal: AbortSignal) => Promise<string | undefined>

/** Milliseconds between two looks, and for one look. */
const EVERY = 3000
const WITHIN = 2000

/**
 * @param isWaiting whether anything is waited for now
 * @param tell gets what it says; undefined for nothing
 * @returns what ends it
 */
export function watchServer(
  status: ServerStatus | undefined,
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
