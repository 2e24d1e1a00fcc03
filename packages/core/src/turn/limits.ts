/** The limits of a turn. Requests and calls are checked before they are used; tokens and cost are reserved, then settled. */

export interface Limits {
  /** Model requests. The last one is sent without callable tools, so that the model concludes. Default 25. */
  readonly requests: number
  /** Tool calls. Default 200. */
  readonly calls: number
  /** Input and output tokens together. Default: none. */
  readonly tokens: number
  /** Cost, in the currency of the configured prices. Default: none. */
  readonly cost: number
  /** Wall-clock time in seconds. Default: none. */
  readonly seconds: number
}

export const DEFAULT_LIMITS: Limits = { requests: 25, calls: 200, tokens: Infinity, cost: Infinity, seconds: Infinity }

export interface Spent {
  readonly requests: number
  readonly calls: number
  readonly tokens: number
  readonly cost: number
  readonly seconds: number
}

export const NOTHING_SPENT: Spent = { requests: 0, calls: 0, tokens: 0, cost: 0, seconds: 0 }

export interface LimitReached {
  readonly limit: keyof Limits
  readonly max: number
}

const ORDER = ['requests', 'calls', 'tokens', 'cost', 'seconds'] as const

/** Returns the first limit that spending `more` on top of `spent` would exceed, if any. */
export function limitReached(spent: Spent, more: Partial<Spent>, limits: Limits): LimitReached | undefined {
  for (const limit of ORDER) {
    const asked = more[limit]
    if (asked !== undefined && spent[limit] + asked > limits[limit]) return { limit, max: limits[limit] }
  }
  return undefined
}

export function spend(spent: Spent, more: Partial<Spent>): Spent {
  const sum = { ...spent }
  for (const limit of ORDER) sum[limit] += more[limit] ?? 0
  return sum
}

const WORDS: Readonly<Record<keyof Limits, (max: number) => string>> = {
  requests: (max) => `${max} model request${max === 1 ? '' : 's'}`,
  calls: (max) => `${max} tool call${max === 1 ? '' : 's'}`,
  tokens: (max) => `${max} tokens`,
  cost: (max) => `a cost of ${max}`,
  seconds: (max) => `${max} s`,
}

/** Describes a limit, such as "25 model requests". */
export const limitText = ({ limit, max }: LimitReached): string => WORDS[limit](max)
