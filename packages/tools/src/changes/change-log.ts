/** Records changes so that they are atomic across crashes and can be undone turn by turn. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { isMulliganError } from '@mulligan/core/executor'
import { untilAborted } from '../until-aborted.ts'
import type { ChangeLog } from '../workspace/change.ts'
import { adoptionSteps } from './adopt.ts'
import { diskBlobs } from './blobs.ts'
import { asConflict } from './direct.ts'
import { folderOf, noteFolder } from './folders.ts'
import type { Changeset } from './journal.ts'
import { createJournal, DEFAULT_RETENTION, prune, type Retention } from './journal.ts'
import { ifUnlocked, LOCK_WAIT, withLock } from './lock.ts'
import { type FileChange, netChanges } from './net.ts'
import { planInHand, type Restored, recoverAll } from './perform.ts'
import { toSteps } from './planner.ts'
import { inverse, type Step } from './state.ts'
import { notRecorded } from './tree.ts'
import { isUndone, readableGroup, type TurnRecord, turnsOf } from './turns.ts'
import { type Conflict, movedSince, planUndo } from './undo-plan.ts'

export interface ChangeLogOptions {
  /** Folder for the changes of all workspaces, with a subfolder for each. Created on the first change. */
  readonly dir: string
  /** Real path of the workspace. */
  readonly root: string
  readonly retention?: Partial<Retention>
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Milliseconds to wait for another process that is changing the workspace. Default: 10,000. */
  readonly lockWait?: number
}

/** A turn that changed files. */
export interface ChangedTurn {
  /** `session/turn`. */
  readonly turn: string
  /** Time of its first change in milliseconds since 1970. */
  readonly at: number
  /** Whether everything that could be undone was. Changes that could not be undone still count as undoable. */
  readonly undone: boolean
  /** Whether part of the turn was undone and can be redone. */
  readonly redoable: boolean
  /** Whether part of its record can't be read. */
  readonly damaged: boolean
  readonly changes: readonly FileChange[]
}

export interface UndoResult {
  /** False if nothing was done: because of conflicts or, without conflicts, because there was nothing left to do. */
  readonly done: boolean
  readonly turn: string
  /** The changes that were made, or would have been. */
  readonly changes: readonly FileChange[]
  readonly conflicts: readonly Conflict[]
}

export interface RecordedChanges extends ChangeLog {
  /** Rolls back changes that a crashed process left incomplete, and prunes old turns. Also done before each change. */
  readonly recover: () => Promise<Restored>
  /** Sorted by change, oldest first. @param session only the turns of this session. Default: all */
  readonly turns: (session?: string) => Promise<readonly ChangedTurn[]>
  /**
   * Restores the state before a turn. If others have changed any of it since, reports those conflicts and does nothing.
   *
   * @param force overwrites changes by others
   */
  readonly undo: (turn: string, options?: { readonly force?: boolean }) => Promise<UndoResult>
  /** Returns what would prevent undoing these turns one after another, latest first, without undoing anything. */
  readonly conflicts: (turns: readonly string[]) => Promise<readonly Conflict[]>
  /** Returns the net change that these turns together have made, as far as it is in effect: what undoing them would revert. */
  readonly net: (turns: readonly string[]) => Promise<readonly FileChange[]>
  /** The reverse of `undo`, for a turn that was undone. */
  readonly redo: (turn: string, options?: { readonly force?: boolean }) => Promise<UndoResult>
  /** Returns a stored content by its hash. @throws Lost */
  readonly content: (hash: string) => Promise<Buffer>
}

/**
 * @example
 * const log = createChangeLog({ dir: '/var/lib/app/changes', root: '/home/ann/project' })
 * await log.recover()
 * const [last] = (await log.turns()).toReversed()
 * if (last) await log.undo(last.turn)
 */
export function createChangeLog(options: ChangeLogOptions): RecordedChanges {
  let opened: RecordedChanges | undefined
  /** Opened on first use: to name its folder, `node:crypto` is loaded, which would add 8 ms to a start. */
  const log = (): RecordedChanges => {
    opened ??= openChangeLog(options)
    return opened
  }
  return {
    recover: async () => ((await isMissing(options.dir)) ? { restored: [], left: [] } : log().recover()),
    apply: async (...given) => log().apply(...given),
    adopt: async (...given) => log().adopt(...given),
    turns: async (...given) => log().turns(...given),
    undo: async (...given) => log().undo(...given),
    conflicts: async (...given) => log().conflicts(...given),
    net: async (...given) => log().net(...given),
    redo: async (...given) => log().redo(...given),
    content: async (...given) => log().content(...given),
  }
}

const isMissing = (dir: string): Promise<boolean> =>
  access(dir).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )

function openChangeLog({ dir, root, retention, now = Date.now, lockWait = LOCK_WAIT }: ChangeLogOptions): RecordedChanges {
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
    // The process that holds the lock is alive, and rolled back incomplete changes before making its own.
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
        // The next change rolls it back, as after a crash.
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
        throw new ToolFailure('An earlier change failed halfway and could not be reverted yet, so nothing more is changed.', { cause })
      })
    await pruneOnce()
  }

  const changesets = async (session?: string) => {
    const all = await journal.list('done')
    const entries = session === undefined ? all : all.filter(({ group }) => readableGroup(group).startsWith(`${session}/`))
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

  const conflictsOf = (turns: readonly string[]): Promise<readonly Conflict[]> =>
    serially(async () => {
      await ready()
      const all = await changesets()
      const found = turnsOf(all).filter(({ turn }) => turns.includes(turn))
      const since = Math.min(...found.map((one) => one.since))
      const later = all.slice(since + 1).flatMap(({ changeset }) => (changeset && !turns.includes(changeset.turn) ? [changeset] : []))
      const { conflicts } = await planUndo(root, presentOf(found), blobs, (path) => movedSince(later, path))
      return [...conflicts, ...(found.some(({ damaged }) => damaged) ? [DAMAGED] : [])]
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
    turns: async (session) => turnsOf(await changesets(session)).map(changedTurn),
    undo: (turn, { force = false } = {}) => undoOrRedo('undo', turn, force),
    conflicts: conflictsOf,
    net: async (turns) => netChanges(presentOf(turnsOf(await changesets()).filter(({ turn }) => turns.includes(turn)))),
    redo: (turn, { force = false } = {}) => undoOrRedo('redo', turn, force),
    content: blobs.bytes,
  }
}

/** Returns the steps of turns that are in effect, oldest first. */
const presentOf = (turns: readonly TurnRecord[]): readonly Step[] =>
  turns.toSorted((a, b) => a.since - b.since).flatMap(({ present }) => present)

const DAMAGED: Conflict = { path: '.', why: 'a part of the record of this turn can not be read', forceable: true }

function changedTurn(record: TurnRecord): ChangedTurn {
  const { turn, at, damaged, present, taken } = record
  const undone = isUndone(record)
  return { turn, at, undone, redoable: taken.length > 0, damaged, changes: netChanges(undone ? taken : present) }
}

/** Runs tasks one after another, even if one fails. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}
