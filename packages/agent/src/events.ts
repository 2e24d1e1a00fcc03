/** The typed event stream for the CLI, `--json-stream` and logs. */
import type { ToolEvent } from '@mulligan/core'
import type { NamedImage } from './history/images.ts'
import type { AssistantMessage, StoppedBy, Usage } from './history/message.ts'
import type { TurnOutcome } from './outcome.ts'

/** The stored record of a compaction, so that a later process sends the same bytes. */
export interface Compaction {
  /** The last message the digest replaces, including the results of its calls. */
  readonly covers: string
  /** The digest sent in place of everything up to there. */
  readonly digest: string
  /** A replaced user message that follows the digest in full: the current task. */
  readonly task?: string
  /** A step whose results were too long for the usual limit: their total token budget. */
  readonly tight?: { readonly message: string; readonly tokens: number }
}

/** The result of a compaction, in estimated tokens of a request. */
export interface CompactionReport {
  readonly before: number
  readonly after: number
  /** Number of calls that were sent in full before and are now in the digest. */
  readonly calls: number
}

/** `full`: the next request would not have fitted; `refused`: the server refused it; `asked`: manual. */
export type CompactionReason = 'full' | 'refused' | 'asked'

/** Context usage in tokens: how much is used, and the total. */
export interface ContextUse {
  readonly contextUsed: number
  readonly contextTokens: number
}

export type RewindScope = 'conversation' | 'files' | 'both'

/** The stored record of a rewind. */
export interface Rewind {
  /** The id of the first turn that is taken back. */
  readonly from: string
  readonly scope: RewindScope
  /** The turns whose changes to files are to be undone, in this order. */
  readonly undo: readonly string[]
}

/** A file that can't be restored, and why. */
export interface FileConflict {
  readonly path: string
  readonly why: string
}

/** What opens a model again, besides its id. */
export interface Reopen {
  /** The server's address, without credentials. */
  readonly baseUrl?: string
  readonly opensInReasoning?: true
}

export type TurnEvent =
  | { readonly type: 'session.created'; readonly cwd: string }
  /** `agent` is the name of the role. `reopen` is present if the person named the model. */
  | {
      readonly type: 'turn.started'
      readonly prompt: string
      /** Absent without images. */
      readonly images?: readonly NamedImage[]
      readonly model: string
      readonly where: string
      readonly agent?: string
      readonly reopen?: Reopen
      readonly resumed: boolean
    }
  /** The turn is parked until these questions are answered. It goes on with `turn.started`, `resumed`. */
  | { readonly type: 'turn.waiting'; readonly approvals: readonly string[] }
  | { readonly type: 'turn.ended'; readonly outcome: Omit<TurnOutcome, 'calls'> }
  /** The person's message joined the running turn before the request of this step. */
  | {
      readonly type: 'turn.steered'
      readonly messageId: string
      readonly step: number
      readonly text: string
      readonly images?: readonly NamedImage[]
    }
  /** A model request was sent. `attempt` counts from 1; `concluding` says why it is the last one. */
  | {
      readonly type: 'message.created'
      readonly messageId: string
      readonly step: number
      readonly attempt: number
      readonly concluding?: StoppedBy
    }
  | { readonly type: 'message.part.delta'; readonly messageId: string; readonly text: string }
  | { readonly type: 'reasoning.delta'; readonly messageId: string; readonly text: string }
  /** Everything shown of this message is void: the request is repeated, or the turn fails. `why` is for the person. */
  | { readonly type: 'message.discarded'; readonly messageId: string; readonly step: number; readonly why: string }
  /**
   * Text in this message that looks like a call but was not run, and why. `asked`: the message is discarded, and the model is asked
   * once to make the call properly. Of long markup, only the beginning is kept.
   */
  | {
      readonly type: 'message.quoted'
      readonly messageId: string
      readonly step: number
      readonly quoted: readonly { readonly raw: string; readonly why: string; readonly open: boolean }[]
      readonly asked: boolean
    }
  | { readonly type: 'message.completed'; readonly messageId: string; readonly step: number; readonly message: AssistantMessage }
  /** The context used by the request and its reply, in addition to the server's count. */
  | ({ readonly type: 'usage'; readonly step: number; readonly usage: Usage } & ContextUse)
  /** From now on, the conversation so far is sent as a digest, except for the latest steps. */
  | ({
      readonly type: 'context.compacted'
      readonly step: number
      readonly why: CompactionReason
      readonly contextTokens: number
    } & CompactionReport &
      Compaction)
  /** From the turn `from` to `turnId`, the conversation is taken back, the files are to be, or both. The turns stay in the store. */
  | ({ readonly type: 'session.rewound' } & Rewind)
  /** The files of the latest `session.rewound` were restored. `left` could not be. */
  | { readonly type: 'session.restored'; readonly undone: readonly string[]; readonly left: readonly FileConflict[] }
  | { readonly type: 'finish-step'; readonly step: number; readonly finishReason: string; readonly calls: number }
  /** Something the person should know. The turn continues. */
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'error'; readonly message: string; readonly retryInMs?: number }
  /** An event of an agent that works on a task, the call `callId`. It is stored in the task's own session, whose id is the call's. */
  | { readonly type: 'task.event'; readonly callId: string; readonly agent: string; readonly event: TurnEvent }
  | ToolEvent

/** An event with its position. Deltas have no `id` because they are not stored. */
export type AgentEvent = TurnEvent & {
  /** Increases by one per stored event; the stream can be resumed after it. */
  readonly id?: number
  readonly sessionId: string
  readonly turnId: string
  /** Milliseconds since 1970. */
  readonly at: number
}

const FLEETING = new Set<string>(['message.part.delta', 'reasoning.delta', 'tool.delta', 'task.event'])

/** Returns whether an event is stored. */
export const isDurable = ({ type }: TurnEvent): boolean => !FLEETING.has(type)
