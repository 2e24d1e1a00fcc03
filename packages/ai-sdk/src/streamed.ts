/** Handles tools that return an async iterable: every value is shown as it arrives, and the last is the result. */

export const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

export const isGenerator = (run: unknown): boolean =>
  (run as { readonly [Symbol.toStringTag]?: string })[Symbol.toStringTag] === 'AsyncGeneratorFunction'

/** The last value; the iterable is told to stop when the call was given up. */
export async function lastOf(values: AsyncIterable<unknown>, signal: AbortSignal, show: (value: unknown) => void): Promise<unknown> {
  let last: unknown
  for await (const value of values) {
    if (signal.aborted) break
    last = value
    show(value)
  }
  return last
}

/** What `run` shows, as it is shown. @throws whatever `run` rejects with */
export async function* streamed(run: (show: (value: unknown) => void) => Promise<unknown>): AsyncGenerator<unknown> {
  const waiting: unknown[] = []
  let isOver = false
  let wake = (): void => undefined
  const over = run((value) => {
    waiting.push(value)
    wake()
  }).finally(() => {
    isOver = true
    wake()
  })
  over.catch(() => undefined)
  for (;;) {
    while (waiting.length > 0) yield waiting.shift()
    if (isOver) break
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  await over
}
