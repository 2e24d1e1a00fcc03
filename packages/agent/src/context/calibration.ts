/** Learns how a model's tokenizer counts and how much fits into its context. */

export type Calibration = ReturnType<typeof createCalibration>

/** A server that counts more than this many tokens per estimated token is counting something else. */
const MAX_RATIO = 2
/** An agent cannot work with a smaller context, so a smaller number must mean something else. */
const MIN_WINDOW = 512

/** Creates the calibration of an agent, which keeps what it learns from turn to turn. */
export function createCalibration(contextTokens: number) {
  let window = contextTokens
  let ratio = 1
  return {
    /** Returns the effective context size in tokens. */
    window: () => window,
    /** Returns the model's tokens per estimated token: at least 1. */
    ratio: () => ratio,
    /** Records the server's count for a request with this estimate. */
    // Counts below the estimate are ignored, since some servers omit cached tokens.
    observe: (estimated: number, counted: number): void => {
      if (estimated > 0 && Number.isFinite(counted) && counted > 0) ratio = clamp(counted / estimated)
    },
    /** Records that a request with this estimate did not fit. `limit`: what fits, if the server gave it. */
    refused: (estimated: number, limit: number | undefined): void => {
      if (limit !== undefined && limit >= MIN_WINDOW && limit < window) window = limit
      else if (limit !== undefined && limit >= window) ratio = Math.max(ratio, clamp(limit / estimated))
      else window = Math.max(MIN_WINDOW, Math.min(window, Math.floor(estimated * ratio)))
    },
  }
}

const clamp = (ratio: number): number => Math.min(MAX_RATIO, Math.max(1, ratio))
