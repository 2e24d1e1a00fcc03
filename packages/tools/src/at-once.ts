/** Writing files to disk concurrently takes little longer than writing one, because the disk combines the writes. */
const MAX_AT_ONCE = 8

/**
 * @param most maximum number of tasks that run at a time
 * @throws the first failure, once no task is running any more
 */
export async function atOnce<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>, most = MAX_AT_ONCE): Promise<void> {
  const left = items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !next.done && failures.length === 0; next = left.next())
      await work(next.value).catch((error: unknown) => failures.push(error))
  }
  await Promise.all(Array.from({ length: most }, worker))
  if (failures.length > 0) throw failures[0]
}
