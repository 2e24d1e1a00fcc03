/** How full a model's context is. */

/** In tokens: what is used of it, and how many there are. */
export interface ContextUse {
  readonly contextUsed: number
  readonly contextTokens: number
}
