/** Measures rivals in turns, in another order each time, so that other load on the machine affects all of them. */
import { median, p99 } from './stats.ts'

/** One round, which returns its samples in milliseconds. */
export type Go = () => Promise<readonly number[]>

/**
 * A, B, B, A: `rounds` rounds each, after `warmUp` rounds each that do not count. In a fixed order, a rival would always pay for the
 * garbage and the cold caches that the same neighbor leaves behind.
 */
export async function inTurns<Name extends string>(
  rivals: Readonly<Record<Name, Go>>,
  { warmUp, rounds }: { readonly warmUp: number; readonly rounds: number },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(rivals) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let round = -warmUp; round < rounds; round++)
    for (const name of shuffled(names, round)) {
      const yielded = await rivals[name]()
      if (round >= 0) samples[name].push(...yielded)
    }
  return samples
}

/** The same order for the same seed. */
function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const order = [...items]
  let state = Math.imul(seed + 1_000_003, 2_654_435_761)
  for (let left = order.length; left > 1; left--) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223
    const at = (state >>> 8) % left
    const last = order[left - 1] as T
    order[left - 1] = order[at] as T
    order[at] = last
  }
  return order
}

/** The duration of `work` in milliseconds. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Median and 99th percentile, in µs, of samples in milliseconds. */
export const inMicroseconds = (samples: readonly number[]): Record<string, number> => ({
  'median µs': median(samples) * 1000,
  'p99 µs': p99(samples) * 1000,
})
