/** The typed event stream that the CLI, `--json-stream` and logs read. */
import type { ToolEvent } from '@mulligan/core'
import type { Compaction, CompactionReason, CompactionReport } from './context/compaction.ts'
import type { ContextUse } from './context/context-use.ts'
import type { AssistantMessage, Usage } from './history/message.ts'
import type { StoppedBy, TurnOutcome } from './outcome.ts'

export type TurnEvent =
  | { readonly type: 'session.created'; readonly cwd: string }
  /** `agent` is the name of the role. */
  | {
      readonly type: 'turn.started'
      readonly prompt: string
      readonly model: string
      readonly where: string
      readonly agent?: string
      readonly resumed: boolean
    }
  | { readonly type: 'turn.ended'; readonly outcome: Omit<TurnOutcome, 'calls'> }
  /** A model request is sent. `attempt` counts from 1; `concluding` says why it is the last one. */
  | {
      readonly type: 'message.created'
      readonly messageId: string
      readonly step: number
      readonly attempt: number
      readonly concluding?: StoppedBy
    }
  | { readonly type: 'message.part.delta'; readonly messageId: string; readonly text: string }
  | { readonly type: 'reasoning.delta'; readonly messageId: string; readonly text: string }
  /** What was shown of this message is void: the request is made again, or the turn fails. `why` is for the person. */
  | { readonly type: 'message.discarded'; readonly messageId: string; readonly step: number; readonly why: string }
  /**
   * What looks like a call in this message and was not run, and why. `asked`: the message is discarded, and the model is asked
   * once to make the call properly. Of long markup the beginning is kept.
   */
  | {
      readonly type: 'message.quoted'
      readonly messageId: string
      readonly step: number
      readonly quoted: readonly { readonly raw: string; readonly why: string; readonly open: boolean }[]
      readonly asked: boolean
    }
  | { readonly type: 'message.completed'; readonly messageId: string; readonly step: number; readonly message: AssistantMessage }
  /** How much of the context the request and its reply take is beside what the server counted. */
  | ({ readonly type: 'usage'; readonly step: number; readonly usage: Usage } & ContextUse)
  /** What was said so far is sent as a digest from now on, except for the latest steps. */
  | ({
      readonly type: 'context.compacted'
      readonly step: number
      readonly why: CompactionReason
      readonly contextTokens: number
    } & CompactionReport &
      Compaction)
  | { readonly type: 'finish-step'; readonly step: number; readonly finishReason: string; readonly calls: number }
  /** Something that the person should know, and that the turn continues. */
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'error'; readonly message: string; readonly retryInMs?: number }
  | ToolEvent

/** An event with its place. Deltas have no `id`: they are not kept. */
export type AgentEvent = TurnEvent & {
  /** Grows by one within the store; the stream can be resumed after it. */
  readonly id?: number
  readonly sessionId: string
  readonly turnId: string
  /** Milliseconds since 1970. */
  readonly at: number
}

const FLEETING = new Set<string>(['message.part.delta', 'reasoning.delta', 'tool.delta'])

/** Whether an event is kept in the store. */
export const isDurable = ({ type }: TurnEvent): boolean => !FLEETING.has(type)
