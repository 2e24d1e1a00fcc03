/** Determines where a conversation may be cut: before a user message or before a step, never between a call and its result. */
import type { Message } from '../history/message.ts'

/** A user message, or a reply with the results of its calls. */
export interface Unit {
  /** Index of its first message. */
  readonly at: number
  readonly tokens: number
  /** Tokens of the results alone. */
  readonly results: number
  /** The id of the reply; absent for user messages. */
  readonly message?: string
}

export function segmentsBetweenCuts(
  transcript: readonly Message[],
  start: number,
  tokensOf: (unit: readonly Message[]) => number,
): readonly Unit[] {
  const units: Unit[] = []
  for (let at = start; at < transcript.length; ) {
    const first = transcript[at] as Message
    const next = transcript[at + 1]
    const length = first.role === 'assistant' && next?.role === 'results' ? 2 : 1
    const tokens = tokensOf(transcript.slice(at, at + length))
    const results = length === 1 ? 0 : tokens - tokensOf([first])
    units.push({ at, tokens, results, ...(first.role === 'assistant' && { message: first.id }) })
    at += length
  }
  return units
}

export interface CutOptions {
  /** Tokens available for all messages. */
  readonly room: number
  /** Tokens for the latest steps. */
  readonly steps: number
  /** The share of the remaining tokens that the last step may use. */
  readonly last: number
  /** Tokens for the digest. */
  readonly digest: number
  /** Tokens of the user message with the current task. */
  readonly task: number
}

export interface Cut {
  /** Index of the first message that stays; undefined if none does. */
  readonly cut: number | undefined
  /** Token budget for the results of the only step that stays. */
  readonly tight?: { readonly message: string; readonly tokens: number }
}

/** Minimum tokens for a step's results; shorter ones would be useless. */
const MIN_TIGHT = 150
/** Share of the available tokens that stays free for the next step. */
const SPARE = 0.1

/**
 * Plans the cut. The last unit stays, and those before it as far as they fit. A last step that leaves too little space is shortened or
 * dropped.
 */
export function planCut(units: readonly Unit[], { room, steps, last: share, digest, task }: CutOptions): Cut {
  const last = units.at(-1)
  if (!last) return { cut: undefined }
  let { at, tokens } = last
  for (const unit of units.slice(0, -1).toReversed()) {
    if (tokens + unit.tokens > steps) break
    tokens += unit.tokens
    at = unit.at
  }
  const most = Math.floor((room * (1 - SPARE) - digest - task) * share)
  if (last.message === undefined || tokens <= most) return { cut: at }
  const left = most - (last.tokens - last.results)
  return left >= MIN_TIGHT ? { cut: last.at, tight: { message: last.message, tokens: left } } : { cut: undefined }
}
