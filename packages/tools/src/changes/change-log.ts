/** Changes that survive a crash whole or not at all, and that can be taken back turn by turn. */
import { join } from 'node:path'
import { isMulliganError, ToolFailure } from '@mulligan/core'
import { untilAborted } from '../until-aborted.ts'
import type { ChangeLog } from '../workspace/change.ts'
import { adoptionSteps } from './adopt.ts'
import { diskBlobs } from './blobs.ts'
import { asConflict } from './direct.ts'
import { folderOf, noteFolder } from './folders.ts'
import { createJournal } from './journal.ts'
import { ifUnlocked, LOCK_WAIT, withLock } from './lock.ts'
import { movedSince } from './moves.ts'
import { type FileChange, netChanges } from './net.ts'
import { notRecorded } from './not-recorded.ts'
import { planInHand, type Restored } from './perform.ts'
import { DEFAULT_RETENTION, prune, type Retention } from './prune.ts'
import type { Changeset } from './record.ts'
import { recoverAll } from './recovery.ts'
import { inverse, type Step } from './step.ts'
import { toSteps } from './to-steps.ts'
import { isUndone, type TurnRecord, turnsOf } from './turns.ts'
import { type Conflict, planUndo } from './undo-plan.ts'

export interface ChangeLogOptions {
  /** Where the changes of all workspaces are kept, a folder for each. Made when something is first changed. */
  readonly dir: string
  /** Real path of the workspace. */
  readonly root: string
  readonly retention?: Partial<Retention>
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Milliseconds that another process is waited for that is changing the workspace. Default 10,000. */
  readonly lockWait?: number
}

/** A turn that changed something. */
export interface ChangedTurn {
  /** `session/turn`. */
  readonly turn: string
  /** Milliseconds since 1970, of its first change. */
  readonly at: number
  /** All that could be: of what could not, the turn is still there to be undone. */
  readonly undone: boolean
  /** Something of it was taken back, and can be made again. */
  readonly redoable: boolean
  /** A part of its record can't be read. */
  readonly damaged: boolean
  readonly changes: readonly FileChange[]
}

export interface UndoResult {
  /** False when nothing was done: because of the conflicts or, without any, as all is so already. */
  readonly done: boolean
  readonly turn: string
  /** What was done, or would have been. */
  readonly changes: readonly FileChange[]
  readonly conflicts: readonly Conflict[]
}

export interface RecordedChanges extends ChangeLog {
  /**
   * Takes back what a process that died left half done, and forgets turns that are too old. Done before each change too.
   */
  readonly recover: () => Promise<Restored>
  /** Oldest change first. */
  readonly turns: () => Promise<readonly ChangedTurn[]>
  /**
   * Brings back what was before a turn. What others have changed since is named, and then nothing is done.
   *
   * @param force overwrites what others have changed
   */
  readonly undo: (turn: string, options?: { readonly force?: boolean }) => Promise<UndoResult>
  /** The same the other way round, for a turn that was taken back. */
  readonly redo: (turn: string, options?: { readonly force?: boolean }) => Promise<UndoResult>
  /** A content that is kept, by its hash. @throws Lost */
  readonly content: (hash: string) => Promise<Buffer>
}

/**
 * @example
 * const log = createChangeLog({ dir: '/var/lib/app/changes', root: '/home/ann/project' })
 * await log.recover()
 * const [last] = (await log.turns()).toReversed()
 * if (last) await log.undo(last.turn)
 */
export function createChangeLog({ dir, root, retention, now = Date.now, lockWait = LOCK_WAIT }: ChangeLogOptions): RecordedChanges {
  const folder = folderOf(dir, root)
  const journal = createJournal(folder)
  const blobs = diskBlobs(join(folder, 'blobs'))
  const inTurn = queue()
  const serially = <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => inTurn(() => withLock(folder, lockWait, work, signal))
  let pruned: Promise<void> | undefined

  const pruneOnce = (): Promise<void> => {
    pruned ??= prune(journal, blobs, { ...DEFAULT_RETENTION, ...retention }).catch(() => undefined)
    return pruned
  }

  const recover = async (): Promise<Restored> => {
    const isNeeded = (await journal.list('pending')).length > 0
    // Whoever holds the lock is alive, and has taken back what others left before its own change.
    const restored = isNeeded ? await inTurn(() => ifUnlocked(folder, () => recoverAll(root, journal, blobs))) : undefined
    if ((await journal.list('done')).length > 0) await inTurn(() => ifUnlocked(folder, pruneOnce)).catch(() => undefined)
    return restored ?? { restored: [], left: [] }
  }

  async function carryOut(
    kind: Changeset['kind'],
    turn: string,
    callId: string | undefined,
    steps: readonly Step[],
    left: readonly Step[] = [],
    signal?: AbortSignal,
  ): Promise<void> {
    if (steps.length === 0) return
    await noteFolder(folder, root).catch(() => undefined)
    await untilAborted(signal, () => blobs.sync())
    const changeset: Changeset = {
      version: 1,
      kind,
      turn,
      ...(callId !== undefined && { callId }),
      at: now(),
      steps,
      ...(left.length > 0 && { left }),
    }
    const name = await journal.begin(changeset)
    const plan = planInHand(root, steps, blobs)
    try {
      await plan.perform(signal)
      await journal.finish(name)
    } catch (error) {
      try {
        await plan.rollBack()
        await journal.abandon(name)
      } catch {
        // Left to the next change, as after a crash.
      }
      throw error
    }
  }

  const ready = async (): Promise<void> => {
    const pending = await journal.list('pending').catch((error) => {
      throw notRecorded(error)
    })
    if (pending.length > 0)
      await recoverAll(root, journal, blobs).catch((cause) => {
        if (isMulliganError(cause)) throw cause
        throw new ToolFailure('An earlier change failed half way and could not be taken back yet, so nothing more is changed.', { cause })
      })
    await pruneOnce()
  }

  const changesets = async () => {
    const entries = await journal.list('done')
    return Promise.all(entries.map(async (entry) => ({ entry, changeset: await journal.read('done', entry.name) })))
  }

  const undoOrRedo = (kind: 'undo' | 'redo', turn: string, force: boolean): Promise<UndoResult> =>
    serially(async () => {
      await ready()
      const all = await changesets()
      const found = turnsOf(all).find((one) => one.turn === turn)
      if (!found || !(kind === 'undo' ? !isUndone(found) : found.taken.length > 0))
        throw new RangeError(`there is nothing to ${kind} of turn ${turn}`)
      const later = all.slice(found.since + 1).flatMap(({ changeset }) => (changeset && changeset.turn !== turn ? [changeset] : []))
      const from = kind === 'undo' ? found.present : inverse(found.taken)
      const plan = await planUndo(root, from, blobs, (path) => movedSince(later, path))
      const conflicts = [...plan.conflicts, ...(found.damaged ? [DAMAGED] : [])]
      const done = plan.steps.length > 0 && (conflicts.length === 0 || force)
      if (done) await carryOut(kind, turn, undefined, plan.steps, kind === 'undo' ? plan.left : inverse(plan.left))
      return { done, turn, changes: netChanges(plan.steps), conflicts }
    })

  const make = (callId: string, plan: () => Promise<readonly Step[]>, signal?: AbortSignal): Promise<void> =>
    serially(async () => {
      await ready()
      await carryOut('call', callId.split('/').slice(0, 2).join('/'), callId, await untilAborted(signal, plan), [], signal)
    }, signal).catch(asConflict)

  return {
    recover,
    apply: (callId, changes, signal) => make(callId, () => toSteps(root, changes, blobs), signal),
    adopt: (callId, open, changes) => make(callId, () => adoptionSteps(root, open, changes, blobs)),
    turns: async () => turnsOf(await changesets()).map(changedTurn),
    undo: (turn, { force = false } = {}) => undoOrRedo('undo', turn, force),
    redo: (turn, { force = false } = {}) => undoOrRedo('redo', turn, force),
    content: blobs.bytes,
  }
}

const DAMAGED: Conflict = { path: '.', why: 'a part of the record of this turn can not be read', forceable: true }

function changedTurn(record: TurnRecord): ChangedTurn {
  const { turn, at, damaged, present, taken } = record
  const undone = isUndone(record)
  return { turn, at, undone, redoable: taken.length > 0, damaged, changes: netChanges(undone ? taken : present) }
}

/** One after the other, also after one that failed. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}
