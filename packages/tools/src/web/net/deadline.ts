/**
 * Runs `work` with a signal that is aborted together with the caller's, or when the time is up. Unlike `AbortSignal.timeout`, its timer
 * keeps the process alive.
 *
 * @throws the abort reason of the caller's signal, else `late` if the time was up, else whatever `work` throws
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  seconds: number,
  late: (cause: unknown) => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const overdue = new AbortController()
  const timer = setTimeout(() => overdue.abort(), seconds * 1000)
  try {
    return await work(AbortSignal.any([signal, overdue.signal]))
  } catch (error) {
    signal.throwIfAborted()
    throw overdue.signal.aborted ? late(error) : error
  } finally {
    clearTimeout(timer)
  }
}
