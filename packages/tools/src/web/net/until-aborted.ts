/** What `start` gives, or the signal's reason: a request heeds its signal only once it is connected, a look-up of a name never. */
export async function untilAborted<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
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
