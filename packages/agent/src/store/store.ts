/** What is kept, as a port: {@link openStore} is the SQLite one, {@link memoryStore} keeps nothing beyond the process. */
import type { CallRecord } from '@mulligan/core'
import type { Compaction } from '../context/compaction.ts'
import type { AgentEvent } from '../events.ts'
import type { AssistantMessage, Message, UserMessage } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import type { TurnOutcome, TurnStatus } from '../outcome.ts'

export interface SessionRow {
  readonly id: string
  readonly cwd: string
  /** The first words of the first prompt. */
  readonly title: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly turns: number
}

export interface SessionFilter {
  /** Only those of this folder. */
  readonly cwd?: string
  /** Only those whose id begins so. */
  readonly idPrefix?: string
  /** Only those whose last turn began before: milliseconds since 1970. */
  readonly before?: number
  /** Default: 50. */
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

/** Another process has claimed the session since: nothing of it can be written here any more. */
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
  /** The latest first. */
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
  /**
   * Takes the session out with its whole conversation, for good. `busy` names who runs a turn of it now: then nothing is done.
   * One that is not there is no error.
   */
  readonly deleteSession: (id: string) => Promise<{ readonly busy?: string }>
  /**
   * Takes the session for one turn, or says who has it. A claim ends with `release`, with its process, or, where that can't
   * be seen, when it has not been renewed for a while. From then on each write to the session by an earlier claim throws
   * {@link SessionTakenOver}, and nothing of it is stored.
   *
   * @param options.takeOver also from a process that is alive: one that is suspended, say. Default false
   */
  readonly claim: (sessionId: string, options?: { readonly takeOver?: boolean }) => Promise<Claim>
  /** @throws when there is a turn of that id */
  readonly startTurn: (turn: Omit<TurnRow, 'status'>, message: UserMessage) => Promise<void>
  readonly endTurn: (outcome: Omit<TurnOutcome, 'calls'>) => Promise<void>
  readonly lastTurn: (sessionId: string) => Promise<TurnRow | undefined>
  /** The whole conversation in order; calls without an outcome are missing from their results. */
  readonly history: (sessionId: string) => Promise<readonly Message[]>
  /** Idempotent by the message's id. */
  readonly saveMessage: (sessionId: string, message: AssistantMessage) => Promise<void>
  /** Idempotent by the call's id. */
  readonly saveCall: (sessionId: string, turnId: string, record: CallRecord) => Promise<void>
  /** Keeps events in order. `durable`: on disk before it resolves, even if the power fails. */
  readonly append: (events: readonly AgentEvent[], durable: boolean) => Promise<void>
  readonly events: (filter: {
    readonly sessionId: string
    readonly turnId?: string
    readonly after?: number
  }) => Promise<readonly AgentEvent[]>
  /** The latest one of the session, from the event `context.compacted`. */
  readonly compaction: (sessionId: string) => Promise<Compaction | undefined>
  /** 0 when there is none yet. */
  readonly lastEventId: (sessionId: string) => Promise<number>
  /** @param kept what {@link Store.history} has of the turn, which the journal need not keep again. Default: nothing */
  readonly journal: (turnId: string, kept?: readonly Message[]) => Promise<Journal>
  readonly close: () => Promise<void>
}
