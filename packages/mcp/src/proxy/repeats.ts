/** Notices the same call with the same result, again and again. A proxy sees no turns, so it goes by time. */
import { hash } from '@mulligan/repair'
import type { CallResult } from './messages.ts'
import { recent } from './recent.ts'

/** Repetitions from which the result says so, and after which the call is refused for a while. */
export const WARN_AT = 5
export const CLOSE_AT = 10
/** Milliseconds between two calls after which they are no loop, and for which a call stays closed. */
export const WINDOW = 60_000
/** The part of a long result that is compared, besides its length, in characters. */
const COMPARED = 100_000

export interface Repeats {
  /** Returns the milliseconds for which this call is closed; 0 if it may be made. */
  readonly closedFor: (key: string, now: number) => number
  /** Records a result. @returns how often in a row this call had it */
  readonly add: (key: string, result: CallResult, now: number) => number
  /** Something was changed: what was read before may be different now. */
  readonly changed: () => void
}

export function createRepeats(): Repeats {
  const calls = recent<string, { readonly count: number; readonly fingerprint: string; readonly at: number }>()
  return {
    closedFor(key, now) {
      const seen = calls.get(key)
      return seen && seen.count >= CLOSE_AT ? Math.max(0, seen.at + WINDOW - now) : 0
    },
    add(key, { content, structuredContent, isError }, now) {
      const text = JSON.stringify([content, structuredContent, isError])
      const fingerprint = `${text.length} ${hash(text.slice(0, COMPARED))}`
      const seen = calls.get(key)
      const count = seen && seen.fingerprint === fingerprint && now - seen.at < WINDOW ? seen.count + 1 : 1
      calls.set(key, { count, fingerprint, at: now })
      return count
    },
    changed: calls.clear,
  }
}
