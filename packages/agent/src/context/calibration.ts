/** Learns how a model's tokenizer counts and how much fits its context. */

export interface Calibration {
  /** Tokens of the context in force. */
  readonly window: () => number
  /** Tokens of the model for an estimated one: at least 1. */
  readonly ratio: () => number
  /** A request of this estimate was counted by the server. */
  readonly observe: (estimated: number, counted: number) => void
  /** A request of this estimate did not fit. `limit`: what fits, where the server said so. */
  readonly refused: (estimated: number, limit: number | undefined) => void
}

/** A server that counts more than this for an estimated token counts something else. */
const MAX_RATIO = 2
/** Fewer tokens are not context that an agent can work in: such a number is about something else. */
const MIN_WINDOW = 512

/** One for each agent: the next turn knows what this one has learned. */
export function createCalibration(contextTokens: number): Calibration {
  let window = contextTokens
  let ratio = 1
  return {
    window: () => window,
    ratio: () => ratio,
    // Fewer than estimated are not believed: some servers leave out what they had in their cache.
    observe: (estimated, counted) => {
      if (estimated > 0 && Number.isFinite(counted) && counted > 0) ratio = clamp(counted / estimated)
    },
    refused: (estimated, limit) => {
      if (limit !== undefined && limit >= MIN_WINDOW && limit < window) window = limit
      else if (limit !== undefined && limit >= window) ratio = Math.max(ratio, clamp(limit / estimated))
      else window = Math.max(MIN_WINDOW, Math.min(window, Math.floor(estimated * ratio)))
    },
  }
}

const clamp = (ratio: number): number => Math.min(MAX_RATIO, Math.max(1, ratio))
