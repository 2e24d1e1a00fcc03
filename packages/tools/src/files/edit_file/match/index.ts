import { exact } from './exact.ts'
import { lineTrimmed } from './line-trimmed.ts'
import type { Strategy } from './match.ts'

export type { Match, Strategy } from './match.ts'

/** In the order they are tried: from what can't be wrong to what is most forgiving. */
export const STRATEGIES: readonly Strategy[] = [exact, lineTrimmed]
