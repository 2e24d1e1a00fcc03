/** The interface of a server: where to look for it, and how to list its models. */
import type { Env } from '../../common/env.ts'
import type { Get } from './get.ts'

export interface FoundModel {
  /** The provider by whose name it is opened. */
  readonly provider: string
  readonly name: string
  /** Tokens of its context as it is loaded, otherwise as many as it takes. */
  readonly contextTokens?: number
  /** On disk. */
  readonly bytes?: number
  /** Whether it takes tools, where the server says so. */
  readonly tools?: boolean
  /** In memory now. */
  readonly loaded?: boolean
  /** Milliseconds since 1970. */
  readonly modifiedAt?: number
  /** The server passes the conversation on to this host. */
  readonly passedTo?: string
  /** False for embeddings, speech and the like, as the server says; undefined if only the name tells. */
  readonly chat?: boolean
}

export interface LocalServer {
  readonly provider: string
  /** For the person: "LM Studio". */
  readonly title: string
  /** Its address without `/v1` and without a slash at its end. @throws UsageError */
  readonly address: (env: Env) => string
  /** The variable that holds the address. */
  readonly variable: string
  /** How it is started: a command, or where to click. */
  readonly start: string
  /** @throws NoAnswer */
  readonly list: (get: Get) => Promise<readonly FoundModel[]>
}

export const idOf = ({ provider, name }: Pick<FoundModel, 'provider' | 'name'>): string => `${provider}/${name}`

/** Embeddings, rerankers, speech and pictures, by the words that their names have. */
const NO_CHAT =
  /embed|minilm|rerank|whisper|(?:^|[^a-z])(?:bge|gte|e5|tts|asr|clip|siglip|sdxl|flux|parakeet)(?:[^a-z]|$)|stable-diffusion/i

export const isChat = ({ chat, name }: FoundModel): boolean => chat ?? !NO_CHAT.test(name)
