/** The store interface. {@link openStore} opens a database; {@link memoryStore} keeps nothing beyond the process. */
import type { CallRecord } from '@mulligan/core'
import type { AgentEvent, Compaction } from '../events.ts'
import type { Message, StoredMessage, UserMessage } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import type { TurnOutcome, TurnStatus } from '../outcome.ts'
import type { RewindEvent } from '../rewound.ts'

export interface SessionRow {
  readonly id: string
  readonly cwd: string
  /** The first words of the first prompt, or what the person has named it since. */
  readonly title: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly turns: number
}

export interface SessionFilter {
  /** Only sessions of this folder. */
  readonly cwd?: string
  /** Only sessions whose id starts with this. */
  readonly idPrefix?: string
  /** Only sessions whose last turn began before this time, in milliseconds since 1970. */
  readonly before?: number
  /** Only sessions with all of these words in the title, or in prompts and answers. */
  readonly search?: string
  /** Maximum number of sessions. Default: 50. */
  readonly limit?: number
}

export interface TurnRow {
  readonly id: string
  readonly sessionId: string
  readonly prompt: string
  readonly model: string
  readonly status: TurnStatus | 'running'
}

export type Claim = { readonly release: () => Promise<void> } | { readonly busy: string }

/** Another process has claimed the session: this one can no longer write to it. */
export class SessionTakenOver extends Error {
  readonly sessionId: string
  constructor(sessionId: string) {
    super(`session ${sessionId} was taken over by another process`)
    this.name = 'SessionTakenOver'
    this.sessionId = sessionId
  }
}

export interface Store {
  readonly createSession: (session: { readonly id: string; readonly cwd: string; readonly title: string }) => Promise<void>
  readonly session: (id: string) => Promise<SessionRow | undefined>
  /** Returns sessions, latest first. */
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
  /** Changes the title of a session. A missing session is not an error. */
  readonly renameSession: (id: string, title: string) => Promise<void>
  /**
   * Permanently deletes the session with its whole conversation. `busy` names the process that is running a turn of it; nothing is
   * deleted then. A missing session is not an error.
   */
  readonly deleteSession: (id: string) => Promise<{ readonly busy?: string }>
  /**
   * Claims the session for one turn, or returns who has it. A claim ends with `release`, when its process ends or, if that can't be
   * observed, when it has not been renewed for a while. After that, each write to the session under an earlier claim throws
   * {@link SessionTakenOver} and stores nothing.
   *
   * @param options.takeOver also take it from a live process, e.g. one that is suspended. Default false
   */
  readonly claim: (sessionId: string, options?: { readonly takeOver?: boolean }) => Promise<Claim>
  /** Starts a turn. @throws if a turn with this id exists */
  readonly startTurn: (turn: Omit<TurnRow, 'status'>, message: UserMessage) => Promise<void>
  readonly endTurn: (outcome: Omit<TurnOutcome, 'calls'>) => Promise<void>
  readonly lastTurn: (sessionId: string) => Promise<TurnRow | undefined>
  /** Returns the whole conversation in order; calls without an outcome are missing from their results. */
  readonly history: (sessionId: string) => Promise<readonly Message[]>
  /** Saves a message. Idempotent by the message's id. */
  readonly saveMessage: (sessionId: string, message: StoredMessage) => Promise<void>
  /** Saves a call. Idempotent by the call's id. */
  readonly saveCall: (sessionId: string, turnId: string, record: CallRecord) => Promise<void>
  /** Stores events in order. `durable`: they are on disk before it resolves, even if the power fails. */
  readonly append: (events: readonly AgentEvent[], durable: boolean) => Promise<void>
  readonly events: (filter: {
    readonly sessionId: string
    readonly turnId?: string
    readonly after?: number
  }) => Promise<readonly AgentEvent[]>
  /** Returns the latest compaction of what is still part of the conversation, from the events `context.compacted`. */
  readonly compaction: (sessionId: string) => Promise<Compaction | undefined>
  /** Returns the events `session.rewound` and `session.restored` of a session, in order. */
  readonly rewinds: (sessionId: string) => Promise<readonly RewindEvent[]>
  /**
   * Copies turns of a session with everything stored of them into a new session of the same folder, all at once or not at all. The ids of
   * the copied turns, messages and calls begin with the new session's id.
   *
   * @param turns the ids of at least one turn
   */
  readonly branch: (sessionId: string, branch: { readonly id: string; readonly turns: readonly string[] }) => Promise<void>
  /** Returns the last event id; 0 if there is none yet. */
  readonly lastEventId: (sessionId: string) => Promise<number>
  /**
   * Opens the journal of a turn. @param kept the turn's part of {@link Store.history}, which the journal need not store again.
   * Default: nothing
   */
  readonly journal: (turnId: string, kept?: readonly Message[]) => Promise<Journal>
  readonly close: () => Promise<void>
}
