import { exact } from './exact.ts'
import { indentationShifted } from './indentation-shifted.ts'
import { lineTrimmed } from './line-trimmed.ts'
import type { Strategy } from './match.ts'
import { punctuation } from './punctuation.ts'
import { quotes } from './quotes.ts'
import { spacing } from './spacing.ts'
import { typography } from './typography.ts'

export type { Place, Strategy } from './match.ts'
export { type Source, sourceOf } from './source.ts'

/** In the order they are tried: from what can't be wrong to what is most forgiving. */
export const STRATEGIES: readonly Strategy[] = [exact, lineTrimmed, indentationShifted, typography, quotes, spacing, punctuation]
