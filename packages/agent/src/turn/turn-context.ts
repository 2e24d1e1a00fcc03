/** What a turn is run with. */
import type { IndeterminateCall, Limits } from '@mulligan/core'
import type { Calibration } from '../context/calibration.ts'
import type { Compaction } from '../context/compaction.ts'
import type { TurnEvent } from '../events.ts'
import type { AssistantMessage, Message } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import type { AgentModel, AgentOptions } from '../options.ts'
import type { Store } from '../store/store.ts'
import type { BegunEffect } from './calls.ts'

export interface TurnContext
  extends Pick<
    AgentOptions,
    'tools' | 'cwd' | 'policy' | 'role' | 'lean' | 'instructions' | 'skills' | 'spill' | 'breakers' | 'log' | 'secrets'
  > {
  readonly sessionId: string
  readonly turnId: string
  readonly model: AgentModel
  readonly limits: Partial<Limits> | undefined
  readonly store: Store
  readonly journal: Journal
  /** The conversation up to and with the user's message of this turn. */
  readonly history: readonly Message[]
  /** The latest compaction of the session. */
  readonly compaction?: Compaction | undefined
  /** What the agent has learned of the model's context. */
  readonly calibration: Calibration
  /** Effects of earlier turns that may or may not have taken place, and are not settled. */
  readonly indeterminate: readonly IndeterminateCall[]
  /** Replies of this turn that the store has, by step: their requests may not be recorded. */
  readonly replies: ReadonlyMap<number, AssistantMessage>
  /** Effects of this turn that were begun before a restart, by call. */
  readonly begun: ReadonlyMap<string, BegunEffect>
  /** Calls of this turn whose outcome was emitted before a restart. */
  readonly emitted: ReadonlySet<string>
  /** Only gives every call a result: its process has ended, and the conversation goes on without it. */
  readonly closing?: boolean
  readonly approve: NonNullable<AgentOptions['approve']>
  /** Keeps an event and shows it. Await it where the event must be on disk first. */
  readonly emit: (event: TurnEvent) => Promise<void>
  readonly signal: AbortSignal
}
