/** Decides when a turn has to end, and says so to the model and the person. */
import type { Executor } from '../executor-options.ts'
import { notOk, type ToolError } from '../result.ts'
import { type Limits, limitReached, limitText, type Spent } from '../turn/limits.ts'

/** Why a turn has to end with the next reply. */
export type Concluding = 'loop' | Exclude<keyof Limits, 'cost'>

/**
 * Returns why the next request has to be the last one; undefined if it does not.
 * @param executor absent if nothing is counted
 */
export function reasonToConclude(executor: Pick<Executor, 'looping'> | undefined, spent: Spent, limits: Limits): Concluding | undefined {
  if (executor?.looping()) return 'loop'
  // The request is the last one if the limits would not allow another after it.
  return limitReached(spent, { requests: 2, calls: 1, tokens: 1, seconds: 0 }, limits)?.limit as Concluding | undefined
}

const WHY: Partial<Record<Concluding, string>> = {
  requests: 'This is the last request of this turn',
  loop: 'Calls were repeated that change nothing, so there are no more of them in this turn',
}

/** Tells the model to conclude. */
export const conclusion = (by: Concluding): string =>
  `[${WHY[by] ?? `The ${by} of this turn are used up`}. Don't call tools. Answer now, in words, with what is known, and say what is missing.]`

/** The result of a call in a reply that had to be the last one. */
export const refused = (): ToolError => notOk('limit', 'This turn has ended. The call was not run, and nothing was done.')

/** The last words of a turn that the model did not conclude. */
export const closingWords = (by: Concluding | 'empty' | 'cut' | 'filtered', limits: Limits): string => {
  if (by === 'loop') return '[I stopped because I was repeating myself.]'
  if (by === 'empty' || by === 'cut') return '[The model gave no answer.]'
  if (by === 'filtered') return '[The provider withheld the answer.]'
  return `[I stopped at this turn's limit of ${limitText({ limit: by, max: limits[by] })}.]`
}
