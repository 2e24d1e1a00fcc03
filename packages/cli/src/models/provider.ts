/** What a provider's file gives: one function from a name to a model, which loads its client only when called. */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Repair } from '@mulligan/core'

export type Env = Readonly<Record<string, string | undefined>>

export interface ModelRequest {
  /** The model's name at the provider. */
  readonly name: string
  /** Of `--base-url` or `MULLIGAN_BASE_URL`, as it was given. */
  readonly baseUrl: string | undefined
  readonly env: Env
}

export interface OpenedModel {
  readonly model: LanguageModelV4
  readonly baseUrl: string
  /** What was mended in the last response of the server. Told once. */
  readonly takeRepairs?: () => readonly Repair[]
  /** Never to be shown. */
  readonly secrets: readonly string[]
}

export interface Provider {
  readonly open: OpenModel
  /** Of its models, when `MULLIGAN_CONTEXT` says nothing. */
  readonly CONTEXT_TOKENS: number
}

/** @throws UsageError for what is missing or wrong in the configuration */
export type OpenModel = (request: ModelRequest) => Promise<OpenedModel>
