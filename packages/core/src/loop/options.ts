/** The options and the interface of a turn. */
import type { Api } from '../api/api.ts'
import type { ApprovalRequest, CallRecord } from '../call/prepared-call.ts'
import type { ApprovalDecision } from '../events.ts'
import type { ExecutorOptions } from '../executor-options.ts'
import type { Limits } from '../turn/limits.ts'
import type { TurnState } from '../turn/state.ts'
import type { Concluding } from './conclude.ts'
import type { ReplyReader } from './leaked-calls.ts'

/** Asks a person: `true` allows this call, `false` denies it. What it throws is logged and counts as no answer, and so does an abort of the turn. */
export type Approve = (request: ApprovalRequest) => boolean | ApprovalDecision | Promise<boolean | ApprovalDecision>

export interface TurnOptions<Reply, Chunk, Message, Request>
  extends Pick<
    ExecutorOptions,
    | 'tools'
    | 'policy'
    | 'errors'
    | 'redact'
    | 'maxResultTokens'
    | 'spill'
    | 'breakers'
    | 'signal'
    | 'indeterminate'
    | 'onEvent'
    | 'log'
    | 'clock'
    | 'graceMs'
  > {
  /** The provider's format: `openaiChat`, `openaiResponses`, `anthropicMessages` or `aiSdkMessages`. */
  readonly api: Api<Reply, Chunk, Message, Request>
  /** Asks a person about a call. Default: nobody can be asked, and the model is told so. */
  readonly approve?: Approve
  /** Default: 25 requests, 200 calls. */
  readonly limits?: Partial<Omit<Limits, 'cost'>>
  /** Finds calls that the model wrote into its text: `leakedCalls(families)`. Default: only reported calls are read. */
  readonly leaks?: ReplyReader
  /** The state of a turn that continues. The other options must be the same as before. */
  readonly state?: SavedTurn
}

/** The state of a turn between two steps, as JSON. */
export interface SavedTurn {
  readonly version: 1
  readonly id: string
  readonly requests: number
  readonly tokens: number
  readonly elapsedMs: number
  /** Consecutive empty replies. */
  readonly empty: number
  /** The model was asked whether it meant a call, and has made none since. */
  readonly asked: boolean
  readonly concluding?: Concluding
  /** The ids of the calls so far, as sent to the provider. */
  readonly ids: readonly string[]
  /** The turn has ended. */
  readonly done: boolean
  readonly executor: TurnState
}

/** What one reply came to. */
export interface Step<Message> {
  /** To be appended to the messages of the next request: the reply and the results of its calls. The provider accepts them as they are. */
  readonly messages: Message[]
  /** The turn has ended: no further request is needed. */
  readonly done: boolean
  /** What the model said, without the markup of calls. In the last step: the answer, or in brackets why there is none. */
  readonly text: string
  /** The calls of the reply and their results, in order. */
  readonly results: readonly CallRecord[]
  /**
   * Why the turn ended if it was not the model's decision: a limit, a loop, `cut` by the output limit, `filtered` by the provider, `empty`
   * replies, or `aborted` by the signal.
   */
  readonly stoppedBy?: Concluding | 'cut' | 'filtered' | 'empty' | 'aborted'
}

export interface ReplyListener {
  /** Gets the text of a streamed reply as it arrives, without the markup of calls. */
  readonly onText?: (text: string) => void
}

export interface Turn<Reply, Chunk, Message, Request> {
  /** The part of the next request that the turn decides: the tools, and whether they may be called. Spread it into the request. */
  readonly request: () => Partial<Request>
  /**
   * Reads a reply and runs its calls. Nothing that a model or a tool does makes it throw.
   * @param reply a complete reply, or its stream
   * @throws TypeError for a reply in another format; what the stream throws, before any call has run, so that the request can be repeated
   */
  readonly reply: (reply: Reply | AsyncIterable<Chunk>, listener?: ReplyListener) => Promise<Step<Message>>
  /** The state, to continue the turn later or elsewhere. */
  readonly state: () => SavedTurn
}
