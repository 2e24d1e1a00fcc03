/** Where a conversation may be cut: before a message of the user, or before a step, never between a call and its result. */
import type { Message } from '../history/message.ts'

/** A message of the user, or a reply with the results of its calls. */
export interface Unit {
  /** Place of its first message. */
  readonly at: number
  readonly tokens: number
  /** Of them, those of the results. */
  readonly results: number
  /** The id of the reply; absent for the user's words. */
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
  /** Tokens for all messages. */
  readonly room: number
  /** For the latest steps. */
  readonly steps: number
  /** Of what they leave, the share that the last step may have. */
  readonly last: number
  /** For the digest. */
  readonly digest: number
  /** The user's message that is being worked on. */
  readonly task: number
}

export interface Cut {
  /** The first message that stays; undefined if none does. */
  readonly cut: number | undefined
  /** Tokens for the results of the only step that stays. */
  readonly tight?: { readonly message: string; readonly tokens: number }
}

/** Results of a step that are shorter than this say nothing. */
const MIN_TIGHT = 150
/** Of the room, what stays free for the next step. */
const SPARE = 0.1

/** The last unit stays, and those before it as far as they fit. A last step that leaves no room is made shorter, or goes. */
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
