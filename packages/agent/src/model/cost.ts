/** What model requests cost. */
import type { Usage } from '../history/message.ts'
import type { AgentModel } from './model.ts'

const MILLION = 1_000_000

/** @returns the cost in the currency of the prices; 0 without prices */
export function costOf({ inputTokens, outputTokens, cachedTokens = 0 }: Usage, prices: AgentModel['prices']): number {
  const { input = 0, output = 0, cached = input } = prices ?? {}
  const fromCache = Math.min(cachedTokens, inputTokens)
  return ((inputTokens - fromCache) * input + fromCache * cached + outputTokens * output) / MILLION
}

/** Adds up what requests used. */
export function addUsage(one: Usage, other: Usage): Usage {
  const cachedTokens = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0)
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
  }
}
