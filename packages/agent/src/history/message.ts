/** The messages of a conversation. Each call is kept twice: as it came on the wire, and in canonical form in its record. */
import type { CallRecord, Repair } from '@mulligan/core'
import type { StoppedBy } from '../stopped-by.ts'

/** Opaque to us and handed back unchanged: thinking signatures, reasoning items, ids. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export type AssistantPart =
  | { readonly type: 'text'; readonly text: string; readonly metadata?: ProviderMetadata }
  | { readonly type: 'reasoning'; readonly text: string; readonly metadata?: ProviderMetadata }
  | {
      readonly type: 'call'
      /** The engine's identity: session/turn/step/ordinal. */
      readonly callId: string
      /** The wire face: id, name and the raw text of the arguments, as they came. */
      readonly wireId: string
      readonly name: string | null
      readonly input: string
      /** What was repaired to come to this call: markup in the text, a broken stream. The markup itself is kept nowhere else. */
      readonly repairs?: readonly Repair[]
      /** The reply ended inside it. */
      readonly cutOff?: true
      /** Why it can't be run: `input` is markup that nobody could read. */
      readonly unread?: string
      /** Why the model may not have meant it. */
      readonly doubt?: string
      readonly metadata?: ProviderMetadata
    }

export type CallPart = Extract<AssistantPart, { type: 'call' }>

export interface UserMessage {
  readonly role: 'user'
  readonly id: string
  readonly turnId: string
  readonly text: string
  /** Files that the person named in it: they may be opened without asking, also where they hold keys. */
  readonly mentions?: readonly string[]
  /** It carries what may come from the workspace: piped input, the output of the person's own commands. */
  readonly attached?: boolean
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly id: string
  readonly turnId: string
  /** Number of the model request in its turn, from 1. */
  readonly step: number
  readonly parts: readonly AssistantPart[]
  /** `PROVIDER/NAME` of the model that said it; `engine` for the engine's own closing words. */
  readonly model: string
  readonly finishReason: string
  readonly usage: Usage
  /** It was asked for as the last of its turn, and why. */
  readonly concluding?: StoppedBy
}

/** The results of one assistant message's calls, in the order of the calls. */
export interface ResultsMessage {
  readonly role: 'results'
  readonly turnId: string
  readonly step: number
  readonly records: readonly CallRecord[]
}

export type Message = UserMessage | AssistantMessage | ResultsMessage

export const callsOf = (message: AssistantMessage): readonly CallPart[] => message.parts.filter((part) => part.type === 'call')
export const textOf = (message: AssistantMessage): string =>
  message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('')

/** A closing message in the engine's own words. */
export const ownWords = (turnId: string, text: string): AssistantMessage => ({
  role: 'assistant',
  id: `${turnId}/end`,
  turnId,
  step: Number.MAX_SAFE_INTEGER,
  parts: [{ type: 'text', text: `[${text}]` }],
  model: 'engine',
  finishReason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0 },
})
