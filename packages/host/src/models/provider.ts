/** What a provider's file gives: one function from a name to a model, which loads its client only when called. */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Sampling as AgentSampling } from '@mulligan/agent'
import type { Repair } from '@mulligan/core'
import type { Env } from '../common/env.ts'
import type { Sampling } from './profiles.ts'

export interface ModelRequest {
  /** The model's name at the provider. */
  readonly name: string
  /** Of `--base-url` or `MULLIGAN_BASE_URL`, as it was given. */
  readonly baseUrl: string | undefined
  /** Tokens, of `MULLIGAN_CONTEXT` or the configuration. */
  readonly contextTokens?: number
  /** How the person wants the next token chosen. */
  readonly sampling?: Sampling
  /** How the model's publisher recommends it. What the person says overrides it, and what the server has for just this model. */
  readonly recommended?: Sampling
  readonly env: Env
}

export interface OpenedModel {
  readonly model: LanguageModelV4
  readonly baseUrl: string
  /** Where the model runs, when that is not where its server is. */
  readonly where?: string
  /** The same model with its responses as the server sent them: to measure what repair them is worth. */
  readonly unrepaired?: () => LanguageModelV4
  /** What was repaired in the last response of the server. Told once. */
  readonly takeRepairs?: () => readonly Repair[]
  /** Tokens of the context in force, where the provider knows better than its `CONTEXT_TOKENS`. */
  readonly contextTokens?: number
  /** What of the request's sampling goes with every call to `model`. Default: all that its contract has a place for. */
  readonly sampling?: AgentSampling
  /** What the server is doing, in a few words, while nothing comes: "loading". For the person. Never throws. */
  readonly status?: (signal: AbortSignal) => Promise<string | undefined>
  /** What the person should know of the last request, such as a prompt that was cut. Told once. */
  readonly takeWarnings?: () => readonly string[]
  /** Never to be shown. */
  readonly secrets: readonly string[]
}

export interface Provider {
  readonly open: OpenModel
  /** Of its models, when `MULLIGAN_CONTEXT` says nothing. */
  readonly CONTEXT_TOKENS: number
}

/** @param set what the server has of its own for just this model */
export function samplingFor({ recommended = {}, sampling }: ModelRequest, set: readonly (keyof Sampling)[] = []): Sampling {
  const left = Object.entries(recommended).filter(([key]) => !set.includes(key as keyof Sampling))
  return { ...Object.fromEntries(left), ...sampling }
}

/** @throws UsageError for what is missing or wrong in the configuration */
export type OpenModel = (request: ModelRequest) => Promise<OpenedModel>
