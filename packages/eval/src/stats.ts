/**
 * The statistics of the report, and the seeded random numbers they need. Sources: E. B. Wilson, "Probable inference, the law of
 * succession, and statistical inference", JASA 22 (1927), for the interval of a rate; Q. McNemar, Psychometrika 12 (1947), in its
 * exact (binomial) form, which is the sign test over tasks; B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993),
 * ch. 13, percentile interval; S. Holm, Scandinavian Journal of Statistics 6 (1979), for multiple comparisons; R. Hyndman and
 * Y. Fan, The American Statistician 50 (1996), definition 7, for quantiles.
 */

/** A value of 0 to 1, or -1 to 1 for a difference. */
export type Interval = readonly [low: number, high: number]

/** Returns numbers in [0, 1). */
export type Random = () => number

/** Random numbers that are the same for the same seed (Mulberry32). Not for secrets. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A random permutation. */
export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const keyed = list.map((item) => ({ item, key: random() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
}

/** The 97.5 % point of the normal distribution. */
const Z = 1.959963984540054

/** The 95 % interval of the rate `successes / n`; everything is possible if n is 0. */
export function wilson(successes: number, n: number): Interval {
  if (n === 0) return [0, 1]
  const rate = successes / n
  const z2 = Z * Z
  const middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
  const half = (Z / (1 + z2 / n)) * Math.sqrt((rate * (1 - rate)) / n + z2 / (4 * n * n))
  // For rates of 0 and 1 the formula gives exactly 0 and 1, except for rounding.
  return [successes === 0 ? 0 : Math.max(0, middle - half), successes === n ? 1 : Math.min(1, middle + half)]
}

/** Quartiles by definition 7 of Hyndman and Fan. */
export interface Quartiles {
  readonly median: number
  readonly q1: number
  readonly q3: number
}

/** Returns undefined if there are no values. */
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

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const RESAMPLES = 10_000

/** The 95 % percentile interval of the mean over resampled values. For differences of pairs, this is the paired bootstrap. */
export function bootstrapMean(values: readonly number[], random: Random): Interval {
  if (values.length === 0) return [-1, 1]
  const drawn = (): number => values[Math.floor(random() * values.length)] as number
  const means = Array.from({ length: RESAMPLES }, () => sum(values.map(drawn)) / values.length).sort((a, b) => a - b)
  return [quantile(means, 0.025), quantile(means, 0.975)]
}

/** Exact and two-sided: the probability of a split at least this uneven if both sides are equally likely. */
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

/** Each p-value, adjusted for multiple comparisons. */
export function holm(ps: readonly number[]): number[] {
  const adjusted = [...ps]
  let least = 0
  for (const [rank, [at, p]] of [...ps.entries()].sort(([, a], [, b]) => a - b).entries()) {
    least = Math.max(least, Math.min(1, p * (ps.length - rank)))
    adjusted[at] = least
  }
  return adjusted
}
