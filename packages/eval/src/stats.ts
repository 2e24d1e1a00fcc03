/**
 * The numbers of the report. Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
 * JASA 22 (1927), for the interval of a rate; Q. McNemar, Psychometrika 12 (1947), in its exact (binomial) form, which is the
 * sign test over tasks; B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993), ch. 13, percentile interval;
 * S. Holm, Scandinavian Journal of Statistics 6 (1979), for several comparisons; R. Hyndman and Y. Fan, The American
 * Statistician 50 (1996), definition 7, for quantiles.
 */
import type { Random } from './random.ts'

/** From 0 to 1, or for a difference from -1. */
export type Interval = readonly [low: number, high: number]

/** The 97.5 % point of the normal distribution. */
const Z = 1.959963984540054

/** Of `successes` in `n`, with 95 %. Of nothing, everything is possible. */
export function wilson(successes: number, n: number): Interval {
  if (n === 0) return [0, 1]
  const rate = successes / n
  const z2 = Z * Z
  const middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
  const half = (Z / (1 + z2 / n)) * Math.sqrt((rate * (1 - rate)) / n + z2 / (4 * n * n))
  // At both ends the formula gives 0 and 1, up to rounding.
  return [successes === 0 ? 0 : Math.max(0, middle - half), successes === n ? 1 : Math.min(1, middle + half)]
}

/** By definition 7 of Hyndman and Fan. */
export interface Quartiles {
  readonly median: number
  readonly q1: number
  readonly q3: number
}

/** Undefined for no values. */
export function quartiles(values: readonly number[]): Quartiles | undefined {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), q1: quantile(sorted, 0.25), q3: quantile(sorted, 0.75) }
}

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)] as number
  const above = sorted[Math.ceil(at)] as number
  return below + (above - below) * (at - Math.floor(at))
}

const RESAMPLES = 10_000

/** The 95 % percentile interval of the mean, over resampled values: of differences of pairs, it is the paired bootstrap. */
export function bootstrapMean(values: readonly number[], random: Random): Interval {
  if (values.length === 0) return [-1, 1]
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0
    for (let drawn = 0; drawn < values.length; drawn++) sum += values[Math.floor(random() * values.length)] as number
    return sum / values.length
  }).sort((a, b) => a - b)
  return [quantile(means, 0.025), quantile(means, 0.975)]
}

/** Two-sided, exact: how likely a split at least as uneven as this is when both sides are equally likely. */
export function signTest(better: number, worse: number): number {
  const n = better + worse
  if (n === 0) return 1
  let term = 0.5 ** n
  let tail = term
  for (let k = 1; k <= Math.min(better, worse); k++) {
    term *= (n - k + 1) / k
    tail += term
  }
  return Math.min(1, 2 * tail)
}

/** Each p-value, adjusted for there being several. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, at) => at).sort((a, b) => (ps[a] as number) - (ps[b] as number))
  const adjusted = [...ps]
  let least = 0
  for (const [rank, at] of order.entries()) {
    least = Math.max(least, Math.min(1, (ps[at] as number) * (ps.length - rank)))
    adjusted[at] = least
  }
  return adjusted
}
