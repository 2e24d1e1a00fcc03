/**
 * Whether the server read less of a prompt than it was sent. Versions of Ollama before 0.12.6 cut a prompt that is too long
 * and say nothing: the only sign is their count of its tokens.
 */
import { estimateText } from '@mulligan/agent'
import type { ChatBody } from './wire.ts'

/** As Ollama reckons. */
const IMAGE_TOKENS = 768
/** Short of the context by no more than this, it is full. */
const BRIM = 2
/** A prompt is cut to half of the context and a few tokens that are kept: so rare a count that a weak doubt is enough. */
const KEPT = 10
const DOUBTFUL = 0.8
/** A count below this share of what was expected is not an error of estimation, before and after the model's own counts are known. */
const IMPLAUSIBLE = { guessed: 0.55, learned: 0.85 }
/** Versions that count only what was not cached give too little, or nothing: then only what can't have fit is told. */
const SURELY_TOO_LONG = 1.5

/** Tokens of a prompt by the engine's estimate, which is from above. */
export const estimateOf = ({ messages, tools = [] }: ChatBody): number =>
  estimateText(JSON.stringify([messages.map(({ images: _, ...message }) => message), tools])) +
  messages.reduce((sum, { images = [] }) => sum + images.length * IMAGE_TOKENS, 0)

/** Tokens, and whether the model's own counts went into them. */
export interface Expected {
  readonly tokens: number
  readonly learned: boolean
}

/** What an estimate comes to in tokens of this model, as learned from its counts so far. */
export interface Gauge {
  readonly expect: (estimate: number) => Expected
  /** From a prompt that was read whole. */
  readonly learn: (estimate: number, counted: number) => void
}

/** The highest count is kept: one that leaves out what was cached would make every prompt look short. */
export function createGauge(): Gauge {
  let ratio = 0
  return {
    expect: (estimate) => ({ tokens: Math.ceil(estimate * (ratio || 1)), learned: ratio > 0 }),
    learn: (estimate, counted) => {
      ratio = Math.max(ratio, counted / Math.max(1, estimate))
    },
  }
}

/** @param counted the server's count; `undefined` if it gives none */
export function wasCut({ tokens, learned }: Expected, counted: number | undefined, numCtx: number): boolean {
  const read = counted ?? 0
  if (read >= numCtx - BRIM) return true
  if (read >= numCtx / 2 && read <= numCtx / 2 + KEPT) return read < tokens * DOUBTFUL
  const isShort = read < tokens * (learned ? IMPLAUSIBLE.learned : IMPLAUSIBLE.guessed)
  return isShort && tokens > numCtx * (read > numCtx / 4 ? 1 : SURELY_TOO_LONG)
}
