/**
 * Detects whether the server read less of a prompt than was sent. Versions of Ollama before 0.12.6 silently truncate a prompt that is too
 * long: the only sign is their token count.
 */
import { estimateText } from '@mulligan/agent'
import type { ChatBody } from './wire.ts'

/** Ollama's own estimate. */
const IMAGE_TOKENS = 768
/** The context counts as full if at most this many tokens are left. */
const BRIM = 2
/**
 * A truncated prompt has half of the context's tokens, plus a few that are kept. Such a count is rare enough that weak evidence suffices.
 */
const KEPT = 10
const DOUBTFUL = 0.8
/** A count below this share of the expected one cannot be an estimation error, before and after the model's own counts are known. */
const IMPLAUSIBLE = { guessed: 0.55, learned: 0.85 }
/** Versions that count only uncached tokens report too few or none: then a cut is reported only if the prompt cannot have fit. */
const SURELY_TOO_LONG = 1.5

/** Estimates a prompt's tokens with the engine's estimate, which errs on the high side. */
export const estimateOf = ({ messages, tools = [] }: ChatBody): number =>
  estimateText(JSON.stringify([messages.map(({ images: _, ...message }) => message), tools])) +
  messages.reduce((sum, { images = [] }) => sum + images.length * IMAGE_TOKENS, 0)

/** Expected tokens, and whether the model's own counts were used. */
export interface Expected {
  readonly tokens: number
  readonly learned: boolean
}

/** Converts estimates to tokens of this model, learning from its counts. */
export interface Gauge {
  readonly expect: (estimate: number) => Expected
  /** Learns from a prompt that was read in full. */
  readonly learn: (estimate: number, counted: number) => void
}

/** Keeps the highest ratio: a count without cached tokens would make every prompt look short. */
export function createGauge(): Gauge {
  let ratio = 0
  return {
    expect: (estimate) => ({ tokens: Math.ceil(estimate * (ratio || 1)), learned: ratio > 0 }),
    learn: (estimate, counted) => {
      ratio = Math.max(ratio, counted / Math.max(1, estimate))
    },
  }
}

/** Whether a prompt was cut. @param counted the server's count; `undefined` if it reports none */
export function wasCut({ tokens, learned }: Expected, counted: number | undefined, numCtx: number): boolean {
  const read = counted ?? 0
  if (read >= numCtx - BRIM) return true
  if (read >= numCtx / 2 && read <= numCtx / 2 + KEPT) return read < tokens * DOUBTFUL
  const isShort = read < tokens * (learned ? IMPLAUSIBLE.learned : IMPLAUSIBLE.guessed)
  return isShort && tokens > numCtx * (read > numCtx / 4 ? 1 : SURELY_TOO_LONG)
}
