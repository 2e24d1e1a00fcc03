/** Resolves when the work is done or the signal is aborted, whichever is first. */
export async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const aborted = Promise.withResolvers<void>()
  const stop = (): void => aborted.resolve()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
