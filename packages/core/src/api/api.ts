/** Converts between a turn and one provider's format of messages. Pure data: no client, no SDK. */
import { isRecord, shown } from '@mulligan/repair'
import { partsText } from '../render.ts'
import type { ContentPart } from '../result.ts'
import { guarded } from '../run/classify.ts'
import type { Tool } from '../tool.ts'

/** An object as a provider sends it. */
export type Json = Readonly<Record<string, unknown>>

/** One part of a reply. `raw` is the part as the provider sent it. */
export type ReadPart =
  | { readonly type: 'text'; readonly text: string; readonly raw: Json }
  | { readonly type: 'reasoning'; readonly text: string; readonly raw: Json }
  | { readonly type: 'call'; readonly id: string; readonly name: string | null; readonly input: unknown; readonly raw: Json }
  /** Sent back unchanged: tools that the provider runs, files. */
  | { readonly type: 'other'; readonly raw: Json }

/** Why a reply ended: `cut` by its length or a broken stream, `filtered` by the provider, `paused` to be continued by a further request. */
export type Finish = 'stop' | 'cut' | 'filtered' | 'paused'

export interface ReadReply {
  readonly parts: readonly ReadPart[]
  readonly finish: Finish
  /** Input and output tokens; 0 if unknown. */
  readonly tokens: number
  /** The provider has signed the reply or parts of it, so that its calls must be sent back unchanged. */
  readonly signed: boolean
}

/** A call as it is sent back, with its result. */
export interface SentCall {
  readonly type: 'call'
  readonly id: string
  readonly name: string
  readonly input: Json
  /** The input as JSON: the text as it came if it was not changed. */
  readonly text: string
  /** Absent for a call that the provider did not report. */
  readonly raw?: Json
  readonly result: readonly ContentPart[]
  readonly isError: boolean
}

/** A part of a reply as it is sent back. A text without `raw` is new. */
export type SentPart =
  | { readonly type: 'text'; readonly text: string; readonly raw?: Json }
  | Extract<ReadPart, { type: 'reasoning' | 'other' }>
  | SentCall

/** A piece of text in a stream. `part` is the index of its part in the complete reply. */
export interface TextDelta {
  readonly part: number
  readonly text: string
}

/** A provider's format. One of {@link openaiChat}, {@link openaiResponses}, {@link anthropicMessages} and {@link aiSdkMessages}, or your own. */
export interface Api<Reply, Chunk, Message, Request> {
  /** The part of a request that the turn decides. `last`: no tool may be called. There is at least one tool. */
  readonly request: (tools: readonly Tool[], last: boolean) => Request
  /** @throws TypeError for a value in another format */
  readonly read: (reply: Reply) => ReadReply
  /**
   * Reads a stream. `end` returns the complete reply. Both throw the error that the provider reports in the stream.
   * @throws TypeError from `end` if no chunk was in this format
   */
  readonly stream: () => { readonly push: (chunk: Chunk) => TextDelta | undefined; readonly end: () => Reply }
  /** The messages to append: the reply as it is sent back, and the results of its calls. */
  readonly write: (sent: readonly SentPart[], reply: Reply) => Message[]
  readonly say: (role: 'user' | 'assistant', text: string) => Message
  /** The ids of calls that the provider accepts. Default: all. */
  readonly ids?: RegExp
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objects = (value: unknown): readonly Json[] => list(value).filter(isRecord)
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)
/** Returns the object, or an empty one for anything else. */
export const fields = (value: unknown): Json => (isRecord(value) ? value : {})

/** The error that a provider reports within a stream. */
export const reported = (error: unknown): Error => {
  if (error instanceof Error) return error
  const { message = error } = fields(error)
  return new Error(typeof message === 'string' ? message : JSON.stringify(message))
}

export const textOf = (parts: readonly ContentPart[]): string => partsText(parts) || '(empty)'

/** Describes an unexpected value in an error for the developer. */
export const otherThan = (what: string, value: unknown): TypeError => {
  const got =
    value instanceof Promise ? 'a promise (is an await missing?)' : (guarded(() => shown(value, 200)) ?? `an unreadable ${typeof value}`)
  return new TypeError(`expected ${what}, got ${got}`)
}

/** Detects a stream in another format, in which no chunk is known. An empty stream is a reply that was cut off. */
export function chunkCheck(what: string) {
  let first: unknown
  let isKnown = false
  return {
    see: (chunk: unknown, known: boolean): void => {
      first ??= chunk
      isKnown ||= known
    },
    end: (): void => {
      if (first !== undefined && !isKnown) throw otherThan(what, first)
    },
  }
}
