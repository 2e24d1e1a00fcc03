/** What the figures are called and how they are drawn, for the terminal, the report and the page. Pure, without any import but types. */
import type { Caught, Outcome } from './observe.ts'
import type { Bucket, Outcomes } from './reliability.ts'

/** From best to worst, which is also the order in charts. */
export const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  ok: 'ok',
  repaired: 'repaired, then ok',
  retry: 'wrong call, hint given',
  failed: 'failed',
  unavailable: 'unavailable',
  denied: 'denied',
  indeterminate: 'outcome unknown',
  blocked: 'blocked',
  closed: 'tool closed',
  cancelled: 'cancelled',
}

export const CAUGHT_LABELS: Readonly<Record<Caught, string>> = {
  unknown_tool: 'calls of tools that do not exist',
  not_found: 'wrong paths and names',
  invalid_input: 'other invalid input',
  loop_blocked: 'loops blocked',
  tool_closed: 'tools closed after repeated mistakes',
  indeterminate: 'effects cut off, outcome unknown',
  repeat_held: 'repeats of those, held for a person',
  late_result: 'results that came after their timeout',
  fault_absorbed: 'transient faults absorbed',
  request_retried: 'model requests repeated',
  reply_discarded: 'broken replies discarded',
  call_in_text: 'calls quoted in text, not run',
  approval_asked: 'approvals asked',
  approval_denied: 'approvals denied',
}

export interface Segment {
  readonly outcome: Outcome
  readonly count: number
  /** Start and length, 0 to 1. */
  readonly from: number
  readonly share: number
}

/** The shares of a stacked bar, in the order of the labels. */
export function segmentsOf(outcomes: Outcomes): readonly Segment[] {
  const list = (Object.keys(OUTCOME_LABELS) as Outcome[]).flatMap((outcome) => {
    const count = outcomes[outcome] ?? 0
    return count > 0 ? [{ outcome, count }] : []
  })
  const total = list.reduce((sum, { count }) => sum + count, 0)
  let from = 0
  return list.map(({ outcome, count }) => {
    const segment = { outcome, count, from, share: count / total }
    from += segment.share
    return segment
  })
}

export interface Column extends Segment {
  readonly at: number
  /** Left edge and width of the column, 0 to 1. */
  readonly x: number
  readonly width: number
}

/** The most that a column takes of the width. */
const WIDEST = 0.06

/** Stacked columns over time, one per bucket; times without calls stay empty. */
export function columnsOf(series: readonly Bucket[], bucketMs: number): readonly Column[] {
  const first = series[0]?.at ?? 0
  const slots = Math.round(((series.at(-1)?.at ?? 0) - first) / bucketMs) + 1
  return series.flatMap(({ at, outcomes }) => {
    // In the middle of its slot, which is wide if there are few.
    const width = Math.min(1 / slots, WIDEST)
    const x = (Math.round((at - first) / bucketMs) + 0.5) / slots - width / 2
    return segmentsOf(outcomes).map((segment) => ({ ...segment, at, x, width }))
  })
}

export const percent = (share: number): string => {
  const value = share * 100
  // 99.97 % must not be shown as 100 %.
  const text = value >= 99.95 || value === 0 ? value.toFixed(0) : value.toFixed(1)
  return share < 1 && text === '100' ? '>99.9 %' : `${text} %`
}

export function duration(ms: number): string {
  if (ms < 1) return '<1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
  const minutes = Math.floor(ms / 60_000)
  return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const UNITS: readonly (readonly [number, string])[] = [
  [7 * 86_400_000, 'week'],
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
]

/** Names the size of a bucket: "hour", "15 minutes". */
export function bucketLabel(ms: number): string {
  const [size, unit] = UNITS.find(([of]) => ms % of === 0) ?? [60_000, 'minute']
  return ms === size ? unit : `${ms / size} ${unit}s`
}
