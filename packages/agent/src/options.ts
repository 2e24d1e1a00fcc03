/** The options of an agent. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ApprovalDecision, ApprovalRequest, Breakers, Limits, Policy, Repair, Spill, Tool } from '@mulligan/core'
import type { Family } from '@mulligan/repair'
import type { AgentEvent } from './events.ts'
import type { Store } from './store/store.ts'
import type { Instructions, Skill } from './turn/guidance.ts'
import type { Role } from './turn/role.ts'

/** How the next token is chosen. What is left out is the server's to decide. */
export type Sampling = Readonly<Pick<LanguageModelV4CallOptions, 'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'frequencyPenalty'>>

/** A model, and what must be known of it. */
export interface AgentModel {
  /** `PROVIDER/NAME`, as the person named it. */
  readonly id: string
  readonly model: LanguageModelV4
  /** Where it runs, for the person: "this machine" or a host. */
  readonly where: string
  /** Tokens of its context. A result may have at most 15 % of it. */
  readonly contextTokens: number
  /** Which families of models to look for in its text: `[glm]`. Default: all of them. */
  readonly families?: readonly Family[]
  /** Its text begins inside the reasoning, and the server leaves it in. Default false. */
  readonly opensInReasoning?: boolean
  /** What was repaired in the last response before its provider package read it. Told once. */
  readonly takeRepairs?: () => readonly Repair[]
  /** What the person should know of the last request, such as a prompt that the server cut: told once, as the event `warning`. */
  readonly takeWarnings?: () => readonly string[]
  /** Per million tokens, in the currency of `limits.cost`. Without them nothing is counted against it. */
  readonly prices?: { readonly input: number; readonly output: number }
  /** Goes with every request. */
  readonly sampling?: Sampling
  /**
   * Tokens of thinking in one reply. Past them it is cut off and asked for once more, with the instruction to come to the point;
   * the second time the turn fails. Default: no limit.
   */
  readonly maxThinking?: number
  /**
   * Seconds without anything new after which a reply is given up. Pings, comments and empty deltas are nothing new. Default: 300,
   * and 3,600 before the first token, since a server may still load the model.
   */
  readonly idleSeconds?: number
  /** What the person can do about a request that failed for good, in a sentence or two. It must not throw; it is given 5 s. */
  readonly advise?: (fault: FailedRequest) => Promise<string | undefined>
}

export interface FailedRequest {
  /** Of HTTP, where the server answered. */
  readonly status?: number
  /** Of the network, such as `ECONNREFUSED`. */
  readonly code?: string
}

export interface AgentOptions {
  readonly model: AgentModel
  readonly tools: readonly Tool[]
  readonly store: Store
  /** The workspace, told to the model and kept with the session. */
  readonly cwd: string
  /** Asks the person. Default: nobody is there. */
  readonly approve?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>
  readonly policy?: Policy
  /** A named agent: its task, and which of the tools it has. Default: all of them. */
  readonly role?: Role
  /** Names of the tools that are in every request, as far as they fit; the others are found. Default: as many as fit. */
  readonly lean?: readonly string[]
  /** What the workspace tells the model, read at the start of each turn: the nearest file last. */
  readonly instructions?: () => readonly Instructions[]
  readonly skills?: () => readonly Skill[]
  readonly limits?: Partial<Limits>
  readonly spill?: Spill
  readonly breakers?: Breakers
  readonly onEvent?: (event: AgentEvent) => void
  /** Gets exceptions of tools whole. */
  readonly log?: (entry: { readonly callId: string; readonly tool: string; readonly error: unknown }) => void
  /** Texts that must never be shown, such as API keys: replaced in errors. */
  readonly secrets?: readonly string[]
}
