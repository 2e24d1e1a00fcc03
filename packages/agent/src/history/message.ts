/** The messages of a conversation. Each call is kept twice: as received, and in canonical form in its record. */
import type { CallRecord } from '@mulligan/core'
import type { Repair } from '@mulligan/core/executor'
import type { PromptImage } from './images.ts'

/** The reason why a turn ended before the model was done. */
export type StoppedBy =
  | 'requests'
  | 'calls'
  | 'tokens'
  | 'cost'
  | 'seconds'
  | 'loop'
  | 'empty'
  | 'provider'
  | 'approval'
  | 'user'
  | 'crash'
  /** The request does not fit into the model's context, whatever is left out. */
  | 'context'
  | 'store'
  /** Another process has since claimed the session. */
  | 'taken-over'

/** Provider metadata that is sent back unchanged: thinking signatures, reasoning items, ids. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Of the input tokens, those read from the provider's cache. Absent if there were none, or the provider does not tell. */
  readonly cachedTokens?: number
}

export type AssistantPart =
  | { readonly type: 'text'; readonly text: string; readonly metadata?: ProviderMetadata }
  | { readonly type: 'reasoning'; readonly text: string; readonly metadata?: ProviderMetadata }
  | {
      readonly type: 'call'
      /** The engine's id: session/turn/step/ordinal. */
      readonly callId: string
      /** The call as received: id, name and the raw text of the arguments. */
      readonly wireId: string
      readonly name: string | null
      readonly input: string
      /** The repairs that produced this call: markup in the text, a broken stream. The markup itself is kept nowhere else. */
      readonly repairs?: readonly Repair[]
      /** The reply ended in the middle of the call. */
      readonly cutOff?: true
      /** The reason it can't be run: `input` is unreadable markup. */
      readonly unread?: string
      /** The reason to doubt that the model meant it. */
      readonly doubt?: string
      readonly metadata?: ProviderMetadata
    }

export type CallPart = Extract<AssistantPart, { type: 'call' }>

export interface UserMessage {
  readonly role: 'user'
  readonly id: string
  readonly turnId: string
  /** The model request before which it joined the running turn; absent for the message that began the turn. */
  readonly step?: number
  readonly text: string
  /** Files that the person named in the message: they may be opened without asking, even if they contain keys. */
  readonly mentions?: readonly string[]
  /** Images of the message, in its order. */
  readonly images?: readonly PromptImage[]
  /** The message contains possible workspace content: piped input, or the output of the person's own commands. */
  readonly attached?: boolean
  /** Somebody else wrote the message: it is untrusted content, and none of its words are the person's. */
  readonly untrusted?: boolean
  /** The idempotency key of the request that sent it, by which a repeated request finds its turn. */
  readonly requestKey?: string
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly id: string
  readonly turnId: string
  /** Number of the model request in its turn, from 1. */
  readonly step: number
  readonly parts: readonly AssistantPart[]
  /** `PROVIDER/NAME` of the model that wrote it; `engine` for the engine's own closing message. */
  readonly model: string
  readonly finishReason: string
  readonly usage: Usage
  /** Set if it was requested as the last message of its turn, with the reason. */
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

/** A message that is stored as such; results are stored call by call. */
export type StoredMessage = UserMessage | AssistantMessage

export const isUser = (message: Message): message is UserMessage => message.role === 'user'

/** Returns the records of all calls. */
export const recordsOf = (messages: readonly Message[]): readonly CallRecord[] =>
  messages.flatMap((message) => (message.role === 'results' ? message.records : []))

export const callsOf = (message: AssistantMessage): readonly CallPart[] => message.parts.filter((part) => part.type === 'call')
export const textOf = (message: AssistantMessage): string =>
  message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('')

/** Creates a closing message written by the engine. */
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
