/** Takes a session back to an earlier message. A rewind is an event in the log: what it takes back stays in the store. */
import type { Emit } from './emitters.ts'
import type { FileConflict, RewindScope } from './events.ts'
import type { Message } from './history/message.ts'
import { currentOf, type RewindEvent, rewindNote, takenBack, turnNumber, unfinished, unrecordedEffects } from './rewound.ts'
import { newSessionId } from './session-id.ts'
import { isOpen, type Store } from './store/store.ts'

/** The recorded changes to files, which a rewind undoes. */
export interface RecordedFiles {
  /** Returns the turns that have changed files, those whose changes are in effect with their paths. */
  readonly changes: (sessionId: string) => Promise<readonly { readonly turn: string; readonly paths: readonly string[] }[]>
  /** Returns what prevents undoing these turns, latest first. */
  readonly conflicts: (turns: readonly string[]) => Promise<readonly FileConflict[]>
  /** Undoes the changes of a turn; one that is undone already is not an error. @returns what could not be undone */
  readonly undo: (turn: string) => Promise<readonly FileConflict[]>
}

export interface RewindOptions {
  /** The id of the turn whose message and everything after it are taken back. */
  readonly from: string
  /** What is taken back. Default: `both`. */
  readonly scope?: RewindScope
}

/** What a rewind came to. */
export interface RewindReport {
  /** The text of the message that was taken back. */
  readonly prompt: string
  /** The number of turns taken back. */
  readonly turns: number
  readonly undone: readonly string[]
  readonly left: readonly FileConflict[]
  /** Effects that can't be undone, such as those of commands outside the sandbox, as a tool and its target. */
  readonly effects: readonly string[]
}

/** The turn is not part of the conversation. */
export class UnknownTurn extends Error {
  constructor(turn: string) {
    super(`turn ${turn} is not part of this conversation`)
    this.name = 'UnknownTurn'
  }
}

/** Files were changed since by others, so they can't be restored. Nothing was done. */
export class RewindConflict extends Error {
  readonly conflicts: readonly FileConflict[]
  constructor(conflicts: readonly FileConflict[]) {
    super('files were changed since by others')
    this.name = 'RewindConflict'
    this.conflicts = conflicts
  }
}

/**
 * Takes a session back. The caller holds the session. The intent is on disk before anything is undone, so that {@link finishRewind}
 * can complete it.
 * @throws UnknownTurn, RewindConflict
 */
export async function rewind(
  { store, files }: { readonly store: Store; readonly files: RecordedFiles | undefined },
  sessionId: string,
  { from, scope = 'both' }: RewindOptions,
  emit: Emit,
): Promise<RewindReport> {
  const turns = await turnsFrom(store, sessionId, from)
  const changes = (await files?.changes(sessionId)) ?? []
  const recorded = changes.map(({ turn }) => turn)
  const inEffect = changes.flatMap(({ turn, paths }) => (paths.length > 0 && turnNumber(turn) >= turnNumber(from) ? [turn] : []))
  const undo = scope === 'conversation' ? [] : inEffect.toReversed()
  const conflicts = undo.length > 0 ? ((await files?.conflicts(undo)) ?? []) : []
  if (conflicts.length > 0) throw new RewindConflict(conflicts)
  await emit({ type: 'session.rewound', from, scope, undo })
  const restored = await finishRewind({ store, files }, sessionId, emit)
  const events = (await store.events({ sessionId })).filter(({ turnId }) => turns.includes(turnId))
  const started = events.find((event) => event.type === 'turn.started' && event.turnId === from)
  return {
    prompt: started?.type === 'turn.started' ? started.prompt : '',
    turns: turns.length,
    ...(restored ?? { undone: [], left: [] }),
    effects: unrecordedEffects(events, recorded),
  }
}

/** Returns a turn of the conversation and those after it. @throws UnknownTurn */
export async function turnsFrom(store: Store, sessionId: string, from: string): Promise<readonly string[]> {
  const current = currentOf(await store.history(sessionId), await store.rewinds(sessionId))
  const turns = turnsOf(current).filter((turnId) => turnNumber(turnId) >= turnNumber(from))
  if (turns[0] !== from) throw new UnknownTurn(from)
  return turns
}

/** Restores the files of a rewind, or of one that was cut off. The caller holds the session. @returns undefined if there is none */
export async function finishRewind(
  { store, files }: { readonly store: Store; readonly files: RecordedFiles | undefined },
  sessionId: string,
  emit: Emit,
): Promise<{ readonly undone: readonly string[]; readonly left: readonly FileConflict[] } | undefined> {
  const open = unfinished(await store.rewinds(sessionId))
  if (!open || !files) return undefined
  const undone: string[] = []
  const left: FileConflict[] = []
  for (const turn of open.undo) {
    const conflicts = await files.undo(turn).catch((error: Error): readonly FileConflict[] => [{ path: turn, why: error.message }])
    left.push(...conflicts)
    if (conflicts.length === 0) undone.push(turn)
  }
  await emit({ type: 'session.restored', undone, left })
  return { undone, left }
}

const turnsOf = (messages: readonly Message[]): readonly string[] => [...new Set(messages.map(({ turnId }) => turnId))]

/** Returns what the model has to know of rewinds since the last turn. @param rewinds all of the session's */
export async function rewindNews(
  { store, files }: { readonly store: Store; readonly files: RecordedFiles | undefined },
  sessionId: string,
  lastTurn: string,
  rewinds: readonly RewindEvent[],
): Promise<readonly string[]> {
  if (!rewinds.some((event) => event.turnId === lastTurn && event.type === 'session.rewound' && event.scope !== 'files')) return []
  const isGone = takenBack(rewinds)
  const changes = (await files?.changes(sessionId)) ?? []
  const gone = (await store.events({ sessionId })).filter(({ turnId }) => isGone(turnId))
  const paths = changes.flatMap((one) => (isGone(one.turn) ? one.paths : []))
  return [
    rewindNote(
      paths,
      unrecordedEffects(
        gone,
        changes.map(({ turn }) => turn),
      ),
    ),
  ]
}

/**
 * Copies the conversation of a session, or its part before a turn, to a new session. A turn that has not ended is not copied, and files are
 * not changed.
 *
 * @returns the id of the new session
 * @throws UnknownTurn if there is no such turn, or nothing before it
 */
export async function branchSession(store: Store, sessionId: string, { before }: { readonly before?: string } = {}): Promise<string> {
  const last = await store.lastTurn(sessionId)
  const current = currentOf(await store.history(sessionId), await store.rewinds(sessionId))
  const ids = turnsOf(current)
  const turns = (before === undefined ? ids : ids.slice(0, Math.max(0, ids.indexOf(before)))).filter(
    (turn) => turn !== last?.id || !isOpen(last),
  )
  if (turns.length === 0) throw new UnknownTurn(before ?? `${sessionId}/1`)
  const id = newSessionId()
  await store.branch(sessionId, { id, turns })
  return id
}
