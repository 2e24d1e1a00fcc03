/** Reads and returns AI SDK settings. */
import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { LanguageModel, ModelMessage, OutputInterface, streamText, ToolLoopAgentSettings, ToolSet } from 'ai'

type Context = Record<string, unknown>

/** Of an approval. */
export type Status = { readonly type: 'not-applicable' | 'approved' | 'user-approval' | 'denied'; readonly reason?: string }
export type GivenStatus = Status | Status['type'] | undefined

/** What `streamText` and `generateText` take, without the tools. */
export type TurnSettings<TOOLS extends ToolSet, CONTEXT extends Context, OUTPUT extends OutputInterface> = Omit<
  Parameters<typeof streamText<TOOLS, CONTEXT, OUTPUT>>[0],
  'tools'
>

/** What `ToolLoopAgent` takes, without the tools. */
export type AgentSettings<TOOLS extends ToolSet, CALL_OPTIONS, CONTEXT extends Context, OUTPUT extends OutputInterface> = Omit<
  ToolLoopAgentSettings<CALL_OPTIONS, TOOLS, CONTEXT, OUTPUT>,
  'tools'
>

export interface Mulligan<TOOLS extends ToolSet> {
  /** Settings for one `streamText` or `generateText`, with state of their own: take new ones for each. */
  readonly turn: <
    S extends TurnSettings<TOOLS, CONTEXT, OUTPUT>,
    CONTEXT extends Context = Context,
    OUTPUT extends OutputInterface = OutputInterface,
  >(
    settings: S & { readonly runtimeContext?: CONTEXT; readonly output?: OUTPUT; readonly tools?: never },
  ) => Omit<S, 'tools'> & { readonly tools: TOOLS }
  /** Settings for a `ToolLoopAgent`, of which each call has fresh state. */
  readonly agent: <
    S extends AgentSettings<TOOLS, CALL_OPTIONS, CONTEXT, OUTPUT>,
    CALL_OPTIONS = never,
    CONTEXT extends Context = Context,
    OUTPUT extends OutputInterface = never,
  >(
    settings: S & { readonly runtimeContext?: CONTEXT; readonly output?: OUTPUT; readonly tools?: never },
  ) => Omit<S, 'tools'> & { readonly tools: TOOLS }
}

/** What is read and composed of either. */
export interface Settings {
  readonly tools?: ToolSet
  readonly abortSignal?: AbortSignal
  readonly toolChoice?: unknown
  readonly timeout?: number | { readonly toolMs?: number; readonly tools?: Readonly<Record<string, number>> }
  readonly prepareStep?: (given: {
    readonly model: LanguageModel
    readonly stepNumber: number
    readonly steps: readonly { readonly usage: { readonly totalTokens: number | undefined } }[]
    readonly initialMessages: readonly ModelMessage[]
  }) => PromiseLike<Prepared> | Prepared
  readonly stopWhen?: StopWhen | readonly StopWhen[]
  readonly repairToolCall?: Repair
  readonly experimental_repairToolCall?: Repair
  readonly toolApproval?:
    | ((request: ToolApprovalRequest) => MaybePromise<GivenStatus>)
    | Readonly<Record<string, GivenStatus | ((input: unknown, about: About) => MaybePromise<GivenStatus>)>>
  readonly prepareCall?: (call: Settings) => PromiseLike<Settings> | Settings
}

type MaybePromise<T> = T | PromiseLike<T>
type Prepared = { readonly model?: LanguageModel; readonly toolChoice?: unknown } | undefined
export type StopWhen = (given: { readonly steps: readonly { readonly toolResults: readonly unknown[] }[] }) => MaybePromise<boolean>
export type Repair = (request: RepairRequest) => PromiseLike<LanguageModelV4ToolCall | null>
export interface RepairRequest {
  readonly toolCall: LanguageModelV4ToolCall
  readonly error: Error
}
interface ToolApprovalRequest {
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }
  readonly messages: readonly ModelMessage[]
}
/** What the SDK says beside the input of a call. */
export interface About {
  readonly toolCallId: string
  readonly messages: ModelMessage[]
  readonly toolContext: unknown
}
export type Execute = NonNullable<ToolSet[string]['execute']>
