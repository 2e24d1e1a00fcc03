/** The settings of the AI SDK that the engine reads and returns. */
import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { FlexibleSchema, LanguageModel, ModelMessage, OutputInterface, streamText, ToolLoopAgentSettings, ToolSet } from 'ai'

type Context = Record<string, unknown>

/** The status of an approval. */
export type Status = { readonly type: 'not-applicable' | 'approved' | 'user-approval' | 'denied'; readonly reason?: string }
export type GivenStatus = Status | Status['type'] | undefined

/** The settings of `streamText` and `generateText`. `.turn()` adds the tools. */
export type TurnSettings<TOOLS extends ToolSet, CONTEXT extends Context, OUTPUT extends OutputInterface> = Parameters<
  typeof streamText<TOOLS, CONTEXT, OUTPUT>
>[0]

/** The settings of `ToolLoopAgent`. `.agent()` adds the tools. */
export type AgentSettings<
  TOOLS extends ToolSet,
  CALL_OPTIONS,
  CONTEXT extends Context,
  OUTPUT extends OutputInterface,
> = ToolLoopAgentSettings<CALL_OPTIONS, TOOLS, CONTEXT, OUTPUT>

/** Refuses settings that the SDK does not have, which a type parameter would accept. Does not depend on the tools, which may be generic. */
type Known<S, SETTINGS> = { readonly [KEY in Exclude<keyof S, KeyOf<SETTINGS>>]: never }
type KeyOf<SETTINGS> = SETTINGS extends unknown ? keyof SETTINGS : never

export interface Mulligan<TOOLS extends ToolSet> {
  /** Settings for one call of `streamText` or `generateText`. They have state, so create new ones for each call. */
  readonly turn: <
    S extends TurnSettings<TOOLS, CONTEXT, OUTPUT>,
    CONTEXT extends Context = Context,
    OUTPUT extends OutputInterface = OutputInterface,
  >(
    settings: S & Given<CONTEXT, OUTPUT> & Known<S, TurnSettings<ToolSet, Context, OutputInterface>>,
  ) => S & { readonly tools: TOOLS }
  /** Settings for a `ToolLoopAgent`. Each of its calls has new state. */
  readonly agent: <
    S extends AgentSettings<TOOLS, CALL_OPTIONS, CONTEXT, OUTPUT>,
    CALL_OPTIONS = never,
    CONTEXT extends Context = Context,
    OUTPUT extends OutputInterface = never,
  >(
    settings: S &
      Given<CONTEXT, OUTPUT> & { readonly callOptionsSchema?: FlexibleSchema<CALL_OPTIONS> } & Known<
        S,
        AgentSettings<ToolSet, unknown, Context, OutputInterface>
      >,
  ) => S & { readonly tools: TOOLS }
}

/** Where the type parameters are inferred from. */
interface Given<CONTEXT, OUTPUT> {
  readonly runtimeContext?: CONTEXT
  readonly output?: OUTPUT
  /** The tools are passed to `mulligan()`, not here. */
  readonly tools?: never
}

/** The settings of both functions that are read and combined. */
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
  readonly experimental_refineToolInput?: Readonly<Record<string, (input: unknown) => unknown>>
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
  readonly toolCall: {
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
    readonly providerExecuted?: boolean | undefined
  }
  readonly messages: readonly ModelMessage[]
}
/** What the SDK passes in addition to the input of a call. */
export interface About {
  readonly toolCallId: string
  readonly messages: ModelMessage[]
  readonly toolContext: unknown
}
export type Execute = NonNullable<ToolSet[string]['execute']>
