/** The context in which a turn runs. */
import type { Limits, Tool } from '@mulligan/core'
import type { IndeterminateCall, Tainted } from '@mulligan/core/executor'
import type { Calibration } from '../context/calibration.ts'
import type { Compaction, TurnEvent } from '../events.ts'
import type { PromptImage } from '../history/images.ts'
import type { AssistantMessage, Message, UserMessage } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import type { ImageUse } from '../model/images.ts'
import type { AgentModel } from '../model/model.ts'
import type { AgentOptions, Approve } from '../options.ts'
import type { Ledger, TurnOutcome } from '../outcome.ts'
import type { ParkedCall } from '../parked.ts'
import type { ApprovalRow, Store } from '../store/store.ts'
import type { RunningTurns } from '../tasks/running-turn.ts'
import type { BegunEffect } from './calls.ts'

/** What the person says to a running turn. */
export interface Steer {
  readonly text: string
  /** Files named in it: see {@link UserMessage.mentions}. */
  readonly mentions?: readonly string[]
  /** Images of the message. */
  readonly images?: readonly PromptImage[]
  /** Whether it contains possible workspace content: see {@link UserMessage.attached}. */
  readonly attached?: boolean
}

export interface TurnContext
  extends Pick<
    AgentOptions,
    'cwd' | 'policy' | 'role' | 'lean' | 'instructions' | 'skills' | 'spill' | 'breakers' | 'log' | 'errors' | 'secrets'
  > {
  readonly tools: readonly Tool[]
  readonly sessionId: string
  readonly turnId: string
  readonly model: AgentModel
  readonly limits: Partial<Limits> | undefined
  /** What the turn for which this one does a task has read. */
  readonly tainted?: Tainted | undefined
  /** The turns that run, by id, for the tasks that they give. */
  readonly turns: RunningTurns
  readonly store: Store
  readonly journal: Journal
  /** The conversation up to and including the user's message of this turn. */
  readonly history: readonly Message[]
  /** The latest compaction of the session. */
  readonly compaction?: Compaction | undefined
  /** What the agent has learned about the model's context. */
  readonly calibration: Calibration
  /** What the agent has learned about the model's images. */
  readonly images: ImageUse
  /** Unsettled effects of earlier turns that may or may not have taken place. */
  readonly indeterminate: readonly IndeterminateCall[]
  /** Replies of this turn that are in the store, by step, including those whose request step is not recorded. */
  readonly replies: ReadonlyMap<number, AssistantMessage>
  /** Messages that joined this turn and are in the store, by step. */
  readonly steered: ReadonlyMap<number, UserMessage>
  /** Returns what the person has said since it was last called. */
  readonly steering?: (() => readonly Steer[]) | undefined
  /** Effects of this turn that started before a restart, by call. */
  readonly begun: ReadonlyMap<string, BegunEffect>
  /** Calls of this turn whose outcome, and messages joining it whose event, was emitted before a restart. */
  readonly emitted: ReadonlySet<string>
  /**
   * Set to only give every call a result: the turn's process has ended, or its questions are not to be answered, and the conversation goes on
   * without it.
   */
  readonly closing?: 'interrupted' | 'declined'
  /** With `closing`: what the tasks came to that ran when the process ended. */
  readonly closedTasks?: readonly Ledger[]
  readonly approve: Approve
  /** The questions for which the turn was parked. */
  readonly approvals: readonly ApprovalRow[]
  /** Takes the questions for which the turn is to be parked. Default: they are stored */
  readonly park?: ((questions: readonly ParkedCall[]) => void) | undefined
  /** Stores an event and shows it. Await it if the event must be on disk first. */
  readonly emit: (event: TurnEvent) => Promise<void>
  /** Stores how the turn ended with the event of it, and shows that. */
  readonly end: (outcome: Omit<TurnOutcome, 'calls'>) => Promise<void>
  readonly signal: AbortSignal
}
