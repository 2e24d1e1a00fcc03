/** Counts how often a model may try again, per (tool, errorType, parameter). A pure reducer over events. */
import { canonical } from '@mulligan/repair'
import type { ToolEvent } from '../events.ts'
import type { ToolError } from '../result.ts'
import type { Effect } from '../tool.ts'

/** Names under which calls of unknown tools and malformed calls are counted. */
export const UNKNOWN_TOOL = '(unknown tool)'
export const MALFORMED_CALL = '(malformed call)'
/** Retries for calls of unknown tools and for malformed calls. */
export const CALL_RETRIES = 3
/** How often a closed tool may be reopened. */
const MAX_REOPENINGS = 2

interface Count {
  readonly failures: number
  /** The model response of the latest failure: parallel failures in one response count once. */
  readonly step: number
}

export interface Counters {
  readonly counts: Readonly<Record<string, Count>>
  /** Parameter values that were not found. Trying a new value is free; repeating one is not. */
  readonly tried: Readonly<Record<string, true>>
  readonly closed: Readonly<Record<string, 'turn' | 'other_success'>>
  readonly closings: Readonly<Record<string, number>>
}

export const NO_COUNTS: Counters = { counts: {}, tried: {}, closed: {}, closings: {} }

/** Returns how long the tool is closed, if it is. Only own keys count, since a tool may be named `toString`. */
export const closedUntil = ({ closed }: Counters, tool: string): 'turn' | 'other_success' | undefined =>
  Object.hasOwn(closed, tool) ? closed[tool] : undefined

const closings = (counters: Counters, tool: string): number => (Object.hasOwn(counters.closings, tool) ? (counters.closings[tool] ?? 0) : 0)

/** The cost of a wrong call. */
export interface Verdict {
  /** Wrong calls of this kind still allowed after this one. */
  readonly triesLeft: number
  /** The model is exploring: a value it had not tried before was not found. Costs nothing. */
  readonly free: boolean
  /** Whether the retries are used up, so that the tool closes. */
  readonly closes: boolean
  readonly until: 'turn' | 'other_success'
}

interface Failure {
  readonly tool: string
  readonly effect: Effect
  readonly retries: number
  readonly step: number
  readonly result: ToolError
}

/** Computes the cost of this failure before it is recorded. Pure. */
export function countFailure(counters: Counters, failure: Failure): Verdict {
  const { tool, effect, retries, step, result } = failure
  const count = counters.counts[keyOf(tool, result)]
  const failures = (count?.failures ?? 0) + (count?.step === step ? 0 : 1)
  const free = isExploring(counters, tool, result)
  const triesLeft = Math.max(0, retries + 1 - (free ? (count?.failures ?? 0) : failures))
  const lasting = effect === 'external' || closings(counters, tool) >= MAX_REOPENINGS
  return { triesLeft, free, closes: !free && triesLeft === 0, until: lasting ? 'turn' : 'other_success' }
}

export function reduceCounters(counters: Counters, event: ToolEvent): Counters {
  switch (event.type) {
    case 'tool.retry': {
      const key = keyOf(event.tool, { errorType: event.errorType, details: { parameter: event.parameter } })
      const count = counters.counts[key]
      if (count?.step === event.step) return counters
      return { ...counters, counts: { ...counters.counts, [key]: { failures: (count?.failures ?? 0) + 1, step: event.step } } }
    }
    case 'tool.closed':
      return {
        ...counters,
        closed: { ...counters.closed, [event.tool]: event.until },
        closings: { ...counters.closings, [event.tool]: closings(counters, event.tool) + 1 },
      }
    case 'tool.result':
      if (event.late) return counters
      return event.result.ok ? succeeded(counters, event.tool) : remember(counters, event.tool, event.result)
    default:
      return counters
  }
}

/**
 * Records a success: it resets the tool's counters, reopens tools waiting for another tool's success, and ends a run of malformed
 * calls.
 */
function succeeded(counters: Counters, tool: string): Counters {
  if (counters === NO_COUNTS) return counters
  const { counts, closed } = counters
  const opened = Object.keys(closed).filter((name) => name !== tool && closed[name] === 'other_success')
  const reset = new Set([tool, UNKNOWN_TOOL, MALFORMED_CALL, ...opened])
  const stale = Object.keys(counts).filter((key) => reset.has(key.slice(0, key.indexOf('\0'))))
  if (stale.length === 0 && opened.length === 0) return counters
  return { ...counters, counts: without(counts, stale), closed: without(closed, opened) }
}

function remember(counters: Counters, tool: string, result: ToolError): Counters {
  const key = triedKey(tool, result)
  if (key === undefined || counters.tried[key]) return counters
  return { ...counters, tried: { ...counters.tried, [key]: true } }
}

function isExploring(counters: Counters, tool: string, result: ToolError): boolean {
  const key = triedKey(tool, result)
  return key !== undefined && !counters.tried[key]
}

function triedKey(tool: string, { errorType, details }: ToolError): string | undefined {
  if (errorType !== 'not_found' || details?.parameter === undefined || details.value === undefined) return undefined
  return `${tool}\0${details.parameter}\0${canonical(details.value)}`
}

const keyOf = (
  tool: string,
  result: { readonly errorType: string; readonly details?: { readonly parameter?: string | undefined } },
): string => `${tool}\0${result.errorType}\0${result.details?.parameter ?? ''}`

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Readonly<Record<string, T>> {
  const copy = { ...record }
  for (const key of keys) delete copy[key]
  return copy
}
