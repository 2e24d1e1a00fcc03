/** The families in the order in which they are tried where several share an opener: by precedence, then by name. */

import * as all from './families/index.ts'
import type { Family } from './family.ts'

export const families: readonly Family[] = /* @__PURE__ */ Object.values<Family>(all).sort(
  (a, b) => (b.precedence ?? 0) - (a.precedence ?? 0),
)
