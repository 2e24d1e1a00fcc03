/** Rivals are measured in turns, so that whatever the machine does meanwhile it does to all of them. */
import { median, p99 } from './stats.ts'

/** One go: the samples it yields, in milliseconds. */
export type Go = () => Promise<readonly number[]>

/** A, B, A, B: `rounds` goes each, after `warmUp` goes each that are thrown away. */
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

/** Milliseconds that `work` takes. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Median and 99th percentile of samples in milliseconds, told in µs. */
export const inMicroseconds = (samples: readonly number[]): Record<string, number> => ({
  'median µs': median(samples) * 1000,
  'p99 µs': p99(samples) * 1000,
})
