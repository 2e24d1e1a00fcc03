/** Resolves like `start`, or rejects with the signal's reason as soon as it is aborted, even if `start` is still pending. */
export async function untilAborted<T>(signal: AbortSignal | undefined, start: () => Promise<T>): Promise<T> {
  if (!signal) return start()
  signal.throwIfAborted()
  let stop: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([start(), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
