/** The interface of a server to discover: where to look for it, and how to list its models. */
import type { Env } from '../../common/env.ts'
import type { Get } from './get.ts'

export interface FoundModel {
  /** ID of the provider that opens it. */
  readonly provider: string
  readonly name: string
  /** Context size in tokens as loaded, otherwise the maximum. */
  readonly contextTokens?: number
  /** Size on disk. */
  readonly bytes?: number
  /** Whether it supports tools, if the server reports it. */
  readonly tools?: boolean
  /** Whether it is in memory now. */
  readonly loaded?: boolean
  /** In milliseconds since 1970. */
  readonly modifiedAt?: number
  /** Host that the server forwards the conversation to. */
  readonly passedTo?: string
  /** False for embeddings, speech and the like, if the server reports it; undefined if only the name can tell. */
  readonly chat?: boolean
}

export interface LocalServer {
  readonly provider: string
  /** Name for display: "LM Studio". */
  readonly title: string
  /** Returns its address, without `/v1` and without a trailing slash. @throws UsageError */
  readonly address: (env: Env) => string
  /** Environment variable that holds the address. */
  readonly variable: string
  /** How to start it: a command, or where to click. */
  readonly start: string
  /** Lists its models. @throws NoAnswer */
  readonly list: (get: Get) => Promise<readonly FoundModel[]>
}

export const idOf = ({ provider, name }: Pick<FoundModel, 'provider' | 'name'>): string => `${provider}/${name}`

/** Matches embeddings, rerankers, speech and image models by words in their names. */
const NO_CHAT =
  /embed|minilm|rerank|whisper|(?:^|[^a-z])(?:bge|gte|e5|tts|asr|clip|siglip|sdxl|flux|parakeet)(?:[^a-z]|$)|stable-diffusion/i

export const isChat = ({ chat, name }: FoundModel): boolean => chat ?? !NO_CHAT.test(name)

export const OLLAMA_CLOUD = 'ollama.com'

/** Whether it is one of the cloud models that Ollama lists along with local ones: `gpt-oss:120b-cloud`, `glm-4.6:cloud`. */
export const isOllamaCloud = (name: string): boolean => /[:-]cloud$/.test(name)
