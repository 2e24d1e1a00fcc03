/** The interface of a provider's file: one function from a name to a model, which loads its client only when called. */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Sampling as AgentSampling } from '@mulligan/agent'
import type { Repair } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import type { Sampling } from './profiles.ts'

export interface ModelRequest {
  /** The model's name at the provider. */
  readonly name: string
  /** From `--base-url` or `MULLIGAN_BASE_URL`, as given. */
  readonly baseUrl: string | undefined
  /** In tokens, from `MULLIGAN_CONTEXT` or the configuration. */
  readonly contextTokens?: number
  /** The user's sampling options. */
  readonly sampling?: Sampling
  /** The publisher's recommended sampling. The user's options override it, and so do those that the server has for this model. */
  readonly recommended?: Sampling
  readonly env: Env
}

export interface OpenedModel {
  readonly model: LanguageModelV4
  readonly baseUrl: string
  /** Where the model runs, if that is not where its server is. */
  readonly where?: string
  /** Returns the same model with its responses as the server sent them, to measure the effect of repairing them. */
  readonly unrepaired?: () => LanguageModelV4
  /** Returns the repairs made in the last response of the server, once. */
  readonly takeRepairs?: () => readonly Repair[]
  /** Effective context size in tokens, if the provider knows better than its `CONTEXT_TOKENS`. */
  readonly contextTokens?: number
  /** Whether the model takes images, if the provider knows. */
  readonly images?: boolean
  /** The sampling options to pass with every call to `model`. Default: all that the interface has fields for. */
  readonly sampling?: AgentSampling
  /** Describes to the user, in a few words, what the server is doing while nothing arrives: "loading". Never throws. */
  readonly status?: (signal: AbortSignal) => Promise<string | undefined>
  /** Returns warnings for the user about the last request, such as a prompt that was cut, once. */
  readonly takeWarnings?: () => readonly string[]
  /** Must never be shown. */
  readonly secrets: readonly string[]
}

export interface Provider {
  readonly open: OpenModel
  /** Context size of its models, if `MULLIGAN_CONTEXT` is not set. */
  readonly CONTEXT_TOKENS: number
}

/** Combines the sampling options. @param set options that the server has set for this model */
export function samplingFor({ recommended = {}, sampling }: ModelRequest, set: readonly (keyof Sampling)[] = []): Sampling {
  const left = Object.entries(recommended).filter(([key]) => !set.includes(key as keyof Sampling))
  return { ...Object.fromEntries(left), ...sampling }
}

/** Opens a model. @throws UsageError for missing or invalid configuration */
export type OpenModel = (request: ModelRequest) => Promise<OpenedModel>
