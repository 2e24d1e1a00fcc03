/** Computes the reliability figures of what was observed: totals, per tool, per model, and over time. Pure. */
import { CAUGHT, type Caught, type Observed, type ObservedCall, OUTCOMES, type Outcome } from './observe.ts'

/** Number of calls per outcome; those with none are absent. */
export type Outcomes = Readonly<Partial<Record<Outcome, number>>>

/** Milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

export interface Group {
  readonly calls: number
  readonly outcomes: Outcomes
  /** Calls that succeeded, as they came or repaired, of all calls: 0 to 1. */
  readonly success: number
  readonly repairs: number
  /** Absent if no call ran. */
  readonly latency?: Latency
}

export interface Bucket extends Group {
  /** Start, in milliseconds since 1970. */
  readonly at: number
}

/** How many wrong calls came before a success of the tool in the same turn; `never` if there was none. */
export interface Retries {
  readonly afterOne: number
  readonly afterTwo: number
  readonly afterMore: number
  readonly never: number
}

export interface Reliability {
  readonly sessions: number
  readonly turns: number
  /** Turns that ended with an answer. */
  readonly answered: number
  /** Model requests, with repeated ones. */
  readonly requests: number
  readonly total: Group
  /** Most calls first. */
  readonly tools: readonly (Group & { readonly tool: string })[]
  readonly models: readonly (Group & { readonly model: string })[]
  /** Most first. */
  readonly repairs: readonly { readonly kind: string; readonly count: number }[]
  readonly errors: readonly { readonly errorType: string; readonly count: number }[]
  readonly retries: Retries
  /** Every kind, in a fixed order, with 0 for none. */
  readonly caught: readonly { readonly what: Caught; readonly count: number }[]
  /** Milliseconds per bucket. */
  readonly bucketMs: number
  /** Only buckets with calls, in order. */
  readonly series: readonly Bucket[]
  /** All tools and models in the period, without regard to the filter. */
  readonly known: { readonly tools: readonly string[]; readonly models: readonly string[] }
}

export interface ReliabilityFilter {
  readonly tool?: string | undefined
  readonly model?: string | undefined
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BUCKETS: readonly number[] = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY]
const MAX_BUCKETS = 60

export function reliabilityOf(observed: Observed, filter: ReliabilityFilter = {}): Reliability {
  const fits = (one: { readonly tool: string; readonly model: string }): boolean =>
    (filter.tool === undefined || one.tool === filter.tool) && (filter.model === undefined || one.model === filter.model)
  const calls = observed.calls.filter(fits)
  const repairs = observed.repairs.filter(fits)
  const chains = observed.chains.filter(fits)
  const caught = observed.caught.filter(fits)
  const repairsBy = (key: 'tool' | 'model') => countBy(repairs, (one) => one[key])
  const [toolRepairs, modelRepairs] = [repairsBy('tool'), repairsBy('model')]
  const caughtCounts = countBy(caught, ({ what }) => what)
  const bucketMs = bucketFor(calls)
  const recovered = (fitting: (wrong: number) => boolean): number => chains.filter((one) => one.recovered && fitting(one.wrong)).length
  return {
    ...{ sessions: observed.sessions, turns: observed.turns, answered: observed.answered, requests: observed.requests },
    total: groupOf(calls, repairs.length),
    tools: groupsBy(calls, ({ tool }) => tool, toolRepairs).map(([tool, group]) => ({ tool, ...group })),
    models: groupsBy(calls, ({ model }) => model, modelRepairs).map(([model, group]) => ({ model, ...group })),
    repairs: sorted(countBy(repairs, ({ kind }) => kind)).map(([kind, count]) => ({ kind, count })),
    errors: sorted(countBy(calls, ({ errorType }) => errorType)).map(([errorType, count]) => ({ errorType, count })),
    retries: {
      afterOne: recovered((wrong) => wrong === 1),
      afterTwo: recovered((wrong) => wrong === 2),
      afterMore: recovered((wrong) => wrong > 2),
      never: chains.filter((one) => !one.recovered).length,
    },
    caught: CAUGHT.map((what) => ({ what, count: caughtCounts.get(what) ?? 0 })),
    bucketMs,
    series: groupsBy(calls, ({ at }) => Math.floor(at / bucketMs) * bucketMs, new Map())
      .map(([at, group]) => ({ at, ...group }))
      .sort((a, b) => a.at - b.at),
    known: { tools: names(observed.calls, 'tool'), models: names(observed.calls, 'model') },
  }
}

const names = (calls: readonly ObservedCall[], key: 'tool' | 'model'): readonly string[] =>
  [...new Set(calls.map((call) => call[key]))].toSorted()

function countBy<T, K>(list: readonly T[], key: (one: T) => K | undefined): ReadonlyMap<K, number> {
  const counts = new Map<K, number>()
  for (const one of list) {
    const of = key(one)
    if (of !== undefined) counts.set(of, (counts.get(of) ?? 0) + 1)
  }
  return counts
}

const sorted = (counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] =>
  [...counts].toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b))

function groupsBy<K extends string | number>(
  calls: readonly ObservedCall[],
  key: (call: ObservedCall) => K,
  repairs: ReadonlyMap<K, number>,
): readonly (readonly [K, Group])[] {
  return [...Map.groupBy(calls, key)]
    .map(([of, list]) => [of, groupOf(list, repairs.get(of) ?? 0)] as const)
    .sort(([a, x], [b, y]) => y.calls - x.calls || (a < b ? -1 : 1))
}

function groupOf(calls: readonly ObservedCall[], repairs: number): Group {
  const counts = countBy(calls, ({ outcome }) => outcome)
  const outcomes = Object.fromEntries(OUTCOMES.flatMap((one) => (counts.has(one) ? [[one, counts.get(one)]] : []))) as Outcomes
  const latency = latencyOf(calls)
  const good = (outcomes.ok ?? 0) + (outcomes.repaired ?? 0)
  return { calls: calls.length, outcomes, success: calls.length === 0 ? 1 : good / calls.length, repairs, ...(latency && { latency }) }
}

function latencyOf(calls: readonly ObservedCall[]): Latency | undefined {
  const sizes = Float64Array.from(calls.flatMap(({ ms }) => (ms === undefined ? [] : [ms]))).sort()
  if (sizes.length === 0) return undefined
  const at = (share: number): number => round(sizes[Math.min(sizes.length - 1, Math.ceil(share * sizes.length) - 1)] as number)
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}

const round = (ms: number): number => (ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms))

/** The smallest size with which the period of the calls fits on a chart. */
function bucketFor(calls: readonly ObservedCall[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0]
  for (const { at } of calls) [first, last] = [Math.min(first, at), Math.max(last, at)]
  return BUCKETS.find((size) => (last - first) / size <= MAX_BUCKETS) ?? (BUCKETS.at(-1) as number)
}
