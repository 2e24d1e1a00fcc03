/** The model as a turn uses it. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Repair } from '@mulligan/core/executor'
import type { Family } from '@mulligan/repair'
import type { Reopen } from '../events.ts'

/** Sampling parameters. Omitted ones are left to the server. */
export type Sampling = Readonly<Pick<LanguageModelV4CallOptions, 'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'frequencyPenalty'>>

/** A model and the facts a turn needs about it. */
export interface AgentModel {
  /** `PROVIDER/NAME`, as given by the person. */
  readonly id: string
  readonly model: LanguageModelV4
  /** Where it runs, as shown to the person: "this machine" or a host. */
  readonly where: string
  /** What the person named besides the id, so that the session can be continued with it. Absent if they named no model. */
  readonly reopen?: Reopen
  /** Size of its context in tokens. A result may use at most 15 % of it. */
  readonly contextTokens: number
  /** Model families whose call formats are recognised in its text: `[glm]`. Default: all of them. */
  readonly families?: readonly Family[]
  /** Whether its text begins inside the reasoning and the server does not separate it. Default false. */
  readonly opensInReasoning?: boolean
  /** Returns the repairs made to the last response before its provider package read it. Each repair is returned once. */
  readonly takeRepairs?: () => readonly Repair[]
  /**
   * Returns warnings for the person about the last request, such as a prompt that the server truncated. Each is returned once, as the
   * event `warning`.
   */
  readonly takeWarnings?: () => readonly string[]
  /**
   * Prices per million tokens, in the currency of `limits.cost`. Without them, nothing counts towards that limit. `cached`: of input read
   * from the provider's cache. Default: as other input
   */
  readonly prices?: { readonly input: number; readonly output: number; readonly cached?: number | undefined }
  /**
   * Whether it takes images. Default: they are sent until its server refuses them; from then on, for the life of the agent, they are
   * replaced by their names.
   */
  readonly images?: boolean
  /** Sampling parameters sent with every request. */
  readonly sampling?: Sampling
  /**
   * Maximum tokens of thinking in one reply. Beyond that, the reply is cut off and requested once more with the instruction to come to
   * the point; the second time, the turn fails. Default: no limit.
   */
  readonly maxThinking?: number
  /**
   * Seconds without new content after which a reply is abandoned. Pings, comments and empty deltas are not new content. Default: 300,
   * and 3,600 before the first token, since a server may still be loading the model.
   */
  readonly idleSeconds?: number
  /** Returns advice for the person about a request that failed for good, in a sentence or two. It must not throw, and has 5 s. */
  readonly advise?: (fault: FailedRequest) => Promise<string | undefined>
}

export interface FailedRequest {
  /** The HTTP status, if the server answered. */
  readonly status?: number
  /** The network error code, such as `ECONNREFUSED`. */
  readonly code?: string
}
