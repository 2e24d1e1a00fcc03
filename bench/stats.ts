/** Statistics of samples: what is told is the middle and the tail, never the mean, which one pause of the collector moves. */

/**
 * The value below which the share `p` (0 to 1) of the samples lies, interpolated between neighbours.
 * @throws RangeError without samples
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
