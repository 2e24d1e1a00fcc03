/** How much of a model's context the part that is in every request may take. */
import { type Tool, tokensIn } from '@mulligan/core'

const SHARE = 0.15
/** From here on a lean set that is of use fits. */
const SMALL_CONTEXT = 8000
const SMALL_BUDGET = 1500

/** Tokens of system prompt and schemas together: 15 % of the context, and 1,500 where that is more, from 8,000 tokens on. */
export function promptBudget(contextTokens: number): number {
  const share = Math.floor(contextTokens * SHARE)
  return contextTokens >= SMALL_CONTEXT ? Math.max(SMALL_BUDGET, share) : share
}

/** About as many characters as a tool has in a request; of the two notations the longer one. */
export const charactersOf = ({ name, description, inputSchema }: Tool): number =>
  JSON.stringify({ type: 'function', function: { name, description, parameters: inputSchema } }).length + 1

export const tokensOf = (tools: readonly Tool[]): number => tokensIn(tools.reduce((sum, tool) => sum + charactersOf(tool), 0))
