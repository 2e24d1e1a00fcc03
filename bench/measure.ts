/** Measures rivals in turns, so that other load on the machine affects all of them. */
import { median, p99 } from './stats.ts'

/** One round, which returns its samples in milliseconds. */
export type Go = () => Promise<readonly number[]>

/** A, B, A, B: `rounds` rounds each, after `warmUp` rounds each that do not count. */
export async function inTurns<Name extends string>(
  rivals: Readonly<Record<Name, Go>>,
  { warmUp, rounds }: { readonly warmUp: number; readonly rounds: number },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(rivals) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let round = -warmUp; round < rounds; round++)
    for (const name of names) {
      const yielded = await rivals[name]()
      if (round >= 0) samples[name].push(...yielded)
    }
  return samples
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
