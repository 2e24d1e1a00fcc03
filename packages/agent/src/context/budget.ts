/** Divides the tokens of a context, as fractions of the window or of what the system prompt and tools leave. */
import type { DigestBudget } from './digest.ts'

/** The share reserved for the reply. */
const REPLY = 0.25
const MAX_REPLY = 4096
/** The share a request may fill, at most what the reply leaves. */
const FULL = 0.8

/** Returns the maximum tokens of a request. */
export const requestLimit = (window: number): number =>
  Math.floor(Math.min(window * FULL, window - Math.min(MAX_REPLY, Math.floor(window * REPLY))))

/** The share of the window for all results of one step together. */
const STEP = 0.35
export const stepLimit = (window: number): number => Math.floor(window * STEP)

/** The share of the available tokens used after a compaction, by digest and latest steps together. */
const AFTER = 0.46
const DIGEST = 0.3
const OPEN = 0.28
const LINES = 0.14
const LOG = 0.06
const MAX_DIGEST = 8000
const MAX_LINES = 4000
const MAX_LOG = 1500

export interface Attempt {
  /** Factor for the usual budgets. */
  readonly digest: number
  /** The share of the space beside the digest that the last step may use; 0 puts it into the digest, too. */
  readonly last: number
}

/**
 * The attempts at a compaction, from the usual one to one that leaves hardly anything. The next is tried if the result is still too
 * long.
 */
export const ATTEMPTS: readonly Attempt[] = [
  { digest: 1, last: 1 },
  { digest: 1, last: 0.6 },
  { digest: 0.6, last: 0.4 },
  { digest: 1, last: 0 },
  { digest: 0.4, last: 0 },
  { digest: 0.15, last: 0 },
]

/** Returns the budgets for `room` tokens, multiplied by `hard`. */
export function budgets(room: number, hard: number): { readonly steps: number; readonly digest: DigestBudget } {
  const share = (of: number, most: number): number => Math.floor(Math.min(room * of, most) * hard)
  const total = share(DIGEST, MAX_DIGEST)
  return {
    steps: Math.floor(room * AFTER * hard) - total,
    digest: { total, open: share(OPEN, MAX_DIGEST), lines: share(LINES, MAX_LINES), log: share(LOG, MAX_LOG) },
  }
}
