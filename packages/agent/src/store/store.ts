/** The store interface. {@link openStore} opens a database; {@link memoryStore} keeps nothing beyond the process. */
import type { CallRecord } from '@mulligan/core'
import type { AgentEvent, Compaction } from '../events.ts'
import type { Message, StoredMessage, UserMessage } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import type { TurnOutcome, TurnStatus } from '../outcome.ts'
import type { ParkedCall, StoredAnswer } from '../parked.ts'
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
  /** In the results of a search: what surrounds the words, on one line. Absent if they are in the title only. */
  readonly snippet?: string
  /** What the program that created it keeps with it. A server's sessions have some; its turns are resumed by any server on this store. */
  readonly settings?: Readonly<Record<string, unknown>>
}

export interface SessionFilter {
  /** Only sessions of this folder. */
  readonly cwd?: string
  /** Only sessions whose id starts with this. */
  readonly idPrefix?: string
  /** Only sessions whose last turn began before this time, in milliseconds since 1970. */
  readonly before?: number
  /** Only sessions whose last turn began at this time or later. */
  readonly since?: number
  /** Whether sessions of tasks are among them. Default: only if `idPrefix` is in one. */
  readonly withTasks?: boolean
  /**
   * Only sessions with all of these words in the title, or in prompts and answers; the last one may be the beginning of a word. Sessions
   * with all of them in the title come first, then those with all of them in one turn.
   */
  readonly search?: string
  /** Number of sessions that are left out at the beginning. Default: 0. */
  readonly offset?: number
  /** Maximum number of sessions. Default: 50. */
  readonly limit?: number
}

export interface TurnRow {
  readonly id: string
  readonly sessionId: string
  readonly prompt: string
  readonly model: string
  readonly status: TurnStatus | 'running'
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt?: number
  readonly answer?: string
}

/** Returns whether a turn has no outcome yet: it runs, its process has ended, or it waits for answers. */
export const isOpen = ({ status }: Pick<TurnRow, 'status'>): boolean => status === 'running' || status === 'waiting'

/** A question for which a turn is parked. */
export interface ApprovalRow extends ParkedCall {
  readonly id: string
  readonly sessionId: string
  readonly turnId: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly status: 'pending' | 'answered' | 'expired'
  readonly answer?: StoredAnswer
}

export interface ApprovalFilter {
  readonly sessionId?: string
  readonly turnId?: string
  readonly status?: ApprovalRow['status']
  /** Default: 1000. */
  readonly limit?: number
}

/** The earlier request with the same key. */
export interface EarlierRequest {
  readonly fingerprint: string
  readonly response?: string
  readonly isCutOff?: boolean
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
  readonly createSession: (session: Pick<SessionRow, 'id' | 'cwd' | 'title' | 'settings'>) => Promise<void>
  /** Changes the title or the settings of a session, also while another process runs a turn of it. A missing session is not an error. */
  readonly updateSession: (id: string, changes: Partial<Pick<SessionRow, 'title' | 'settings'>>) => Promise<void>
  readonly session: (id: string) => Promise<SessionRow | undefined>
  /** Returns sessions, latest first; the best ones first if some were searched for. */
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
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
  /** Returns who has claimed the session, if that process is alive. */
  readonly claimed: (sessionId: string) => Promise<string | undefined>
  /**
   * Starts a turn. @param events stored with it, all or nothing. Default: none
   * @throws if a turn with this id exists
   */
  readonly startTurn: (
    turn: Pick<TurnRow, 'id' | 'sessionId' | 'prompt' | 'model'>,
    message: UserMessage,
    events?: readonly AgentEvent[],
  ) => Promise<void>
  /** Ends a turn. @param events stored with it, all or nothing. Default: none */
  readonly endTurn: (outcome: Omit<TurnOutcome, 'calls'>, events?: readonly AgentEvent[]) => Promise<void>
  readonly lastTurn: (sessionId: string) => Promise<TurnRow | undefined>
  /** Returns the turns of a session in order. */
  readonly turns: (sessionId: string) => Promise<readonly TurnRow[]>
  /** Returns the turns of sessions with settings that could go on: they are open, and no question of theirs is pending. */
  readonly resumableTurns: () => Promise<readonly TurnRow[]>
  /** Stores the questions of a turn and marks it as waiting, all or nothing. */
  readonly park: (sessionId: string, turnId: string, approvals: readonly ApprovalRow[]) => Promise<void>
  /** Marks a parked turn as running again. */
  readonly unpark: (sessionId: string, turnId: string) => Promise<void>
  /** Returns questions, oldest first. */
  readonly approvals: (filter?: ApprovalFilter) => Promise<readonly ApprovalRow[]>
  readonly approval: (id: string) => Promise<ApprovalRow | undefined>
  /**
   * Answers a question; the first answer wins. @returns false if it is answered already, or its turn no longer waits
   */
  readonly answer: (id: string, answer: StoredAnswer) => Promise<boolean>
  /** Marks questions as expired that were asked before this time, in milliseconds since 1970. They can't be answered any more. */
  readonly expire: (before: number) => Promise<void>
  /** Answers the pending questions of a turn with `superseded`. */
  readonly supersede: (turnId: string) => Promise<void>
  /** Resolves when everything stored so far of this session is committed. @throws what kept it from being written */
  readonly settled: (sessionId: string) => Promise<void>
  /**
   * Reserves a key for a request that must have one effect only, or returns what is known of the earlier request with this key.
   * `response` is absent while that one is not finished. `isCutOff`: its process has ended before it was, and the key is now reserved for
   * this request; it is not known what the earlier one did. Keys are kept for a day.
   */
  readonly reserve: (key: string, fingerprint: string) => Promise<EarlierRequest | undefined>
  /** Stores the response to the request with this key; `undefined` frees the key. */
  readonly respond: (key: string, response: string | undefined) => Promise<void>
  /** Returns the whole conversation in order; calls without an outcome are missing from their results. */
  readonly history: (sessionId: string) => Promise<readonly Message[]>
  /** Saves a message. Idempotent by the message's id. */
  readonly saveMessage: (sessionId: string, message: StoredMessage) => Promise<void>
  /** Saves a call. Idempotent by the call's id. */
  readonly saveCall: (sessionId: string, turnId: string, record: CallRecord) => Promise<void>
  /** Stores events in order. `durable`: they are on disk before it resolves, even if the power fails. */
  readonly append: (events: readonly AgentEvent[], durable: boolean) => Promise<void>
  /** Returns events in order. `since`: without turns that ended before this time, in milliseconds since 1970. */
  readonly events: (filter: {
    readonly sessionId: string
    readonly turnId?: string
    readonly after?: number
    readonly since?: number
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
