/** Statistics of samples. Reports the median and the tail, not the mean, which a single garbage collection distorts. */

/**
 * The value below which the fraction `p` (0 to 1) of the samples lies, interpolated between neighbors.
 * @throws RangeError if there are no samples
 */
export function quantile(samples: readonly number[], p: number): number {
  if (samples.length === 0) throw new RangeError('no samples')
  const sorted = samples.toSorted((a, b) => a - b)
  const at = Math.min(1, Math.max(0, p)) * (sorted.length - 1)
  const below = sorted[Math.floor(at)] as number
  const above = sorted[Math.ceil(at)] as number
  return below + (above - below) * (at - Math.floor(at))
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5)
export const p99 = (samples: readonly number[]): number => quantile(samples, 0.99)
