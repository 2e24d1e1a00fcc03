/** Files wait for the disk one by one, and for little longer together: it writes down at once what several of them ask for. */
const MAX_AT_ONCE = 8

/**
 * @param most under way at a time
 * @throws the first failure, when nothing is under way any more
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
