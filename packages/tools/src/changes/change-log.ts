/** Changes that survive a crash whole or not at all, and that can be taken back turn by turn. */
import { join } from 'node:path'
import { isMulliganError, ToolFailure } from '@mulligan/core'
import { type DiskBlobs, diskBlobs } from './blobs.ts'
import type { ChangeLog } from './change.ts'
import { asConflict } from './direct.ts'
import { folderOf, noteFolder } from './folders.ts'
import { createJournal } from './journal.ts'
import { type FileChange, netChanges } from './net.ts'
import { notRecorded } from './not-recorded.ts'
import { thisProcess } from './owner.ts'
import { perform, type Restored, rollBack } from './perform.ts'
import { DEFAULT_RETENTION, prune, type Retention } from './prune.ts'
import type { Changeset, Kind } from './record.ts'
import { recoverAll } from './recover.ts'
import { inverse, type Step } from './step.ts'
import { type Conflict, planTakeBack } from './take-back.ts'
import { toSteps } from './to-steps.ts'
import { type TurnRecord, turnsOf } from './turns.ts'

export interface ChangeLogOptions {
  /** Where the changes of all workspaces are kept, a folder for each. Made when something is first changed. */
  readonly dir: string
  /** Real path of the workspace. */
  readonly root: string
  readonly retention?: Partial<Retention>
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** A turn that changed something. */
export interface ChangedTurn {
  /** `session/turn`. */
  readonly turn: string
  /** Milliseconds since 1970, of its first change. */
  readonly at: number
  readonly undone: boolean
  /** A part of its record can't be read. */
  readonly damaged: boolean
  readonly changes: readonly FileChange[]
}

export interface TakenBack {
  /** False when nothing was done, because of the conflicts. */
  readonly done: boolean
  readonly turn: string
  /** What was done, or would have been. */
  readonly changes: readonly FileChange[]
  readonly conflicts: readonly Conflict[]
}

export interface RecordedChanges extends ChangeLog {
  /**
   * Takes back what a process that died left half done, and forgets turns that are too old. Done once, before the first
   * change at the latest.
   */
  readonly recover: () => Promise<Restored>
  /** Oldest change first. */
  readonly turns: () => Promise<readonly ChangedTurn[]>
  /**
   * Brings back what was before a turn. What others have changed since is named, and then nothing is done.
   *
   * @param force overwrites what others have changed
   */
  readonly undo: (turn: string, options?: { readonly force?: boolean }) => Promise<TakenBack>
  /** The same the other way round, for a turn that was taken back. */
  readonly redo: (turn: string, options?: { readonly force?: boolean }) => Promise<TakenBack>
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
export function createChangeLog({ dir, root, retention, now = Date.now }: ChangeLogOptions): RecordedChanges {
  const folder = folderOf(dir, root)
  const journal = createJournal(folder)
  const blobs = diskBlobs(join(folder, 'blobs'))
  const serially = queue()
  let started: Promise<Restored> | undefined
  /** What this process could not take back when it failed. */
  let unfinished: (() => Promise<unknown>) | undefined

  const recover = (): Promise<Restored> => {
    started ??= recoverAll(root, journal, blobs).then(
      async (restored) => {
        await prune(journal, blobs, { ...DEFAULT_RETENTION, ...retention }, now()).catch(() => undefined)
        return restored
      },
      (error: unknown) => {
        started = undefined
        throw error
      },
    )
    return started
  }

  async function carryOut(kind: Kind, turn: string, callId: string | undefined, steps: readonly Step[]): Promise<void> {
    if (steps.length === 0 && kind === 'call') return
    await noteFolder(folder, root).catch(() => undefined)
    await blobs.sync()
    const changeset: Changeset = {
      version: 1,
      kind,
      turn,
      ...(callId !== undefined && { callId }),
      at: now(),
      owner: thisProcess(),
      steps,
    }
    const name = await journal.begin(changeset)
    try {
      await perform(root, steps, blobs)
      await journal.finish(name)
    } catch (error) {
      const takeBack = async (): Promise<void> => {
        await rollBack(root, steps, blobs)
        await journal.abandon(name)
      }
      await takeBack().catch(() => {
        unfinished = takeBack
      })
      throw error
    }
  }

  const ready = async (): Promise<void> => {
    await recover().catch((error) => {
      throw isMulliganError(error) ? error : notRecorded(error)
    })
    if (!unfinished) return
    await unfinished().catch((cause) => {
      throw new ToolFailure('An earlier change failed half way and could not be taken back yet, so nothing more is changed.', { cause })
    })
    unfinished = undefined
  }

  const records = async (): Promise<readonly TurnRecord[]> => {
    const entries = await journal.list('done')
    return turnsOf(await Promise.all(entries.map(async (entry) => ({ entry, changeset: await journal.read('done', entry.name) }))))
  }

  const takeBack = (kind: 'undo' | 'redo', turn: string, force: boolean): Promise<TakenBack> =>
    serially(async () => {
      await ready()
      const found = (await records()).find((one) => one.turn === turn)
      if (!found || found.undone !== (kind === 'redo')) throw new RangeError(`there is nothing to ${kind} of turn ${turn}`)
      const from = kind === 'undo' ? found.steps : inverse(found.steps)
      const { steps, conflicts } = await planTakeBack(root, from, blobs)
      const lost = await lostIn(steps, blobs)
      const all = [...conflicts, ...lost, ...(found.damaged ? [DAMAGED] : [])]
      const done = all.length === 0 || force
      const kept = lost.length === 0 ? steps : steps.filter((step) => !lost.some(({ path }) => step.kind === 'set' && step.path === path))
      if (done) await carryOut(kind, turn, undefined, kept)
      return { done, turn, changes: netChanges(kept), conflicts: all }
    })

  return {
    recover,
    apply: (callId, changes) =>
      serially(async () => {
        await ready()
        const steps = await toSteps(root, changes, blobs)
        await carryOut('call', callId.split('/').slice(0, 2).join('/'), callId, steps)
      }).catch(asConflict),
    turns: async () =>
      (await records()).map(({ turn, at, undone, damaged, steps }) => ({ turn, at, undone, damaged, changes: netChanges(steps) })),
    undo: (turn, { force = false } = {}) => takeBack('undo', turn, force),
    redo: (turn, { force = false } = {}) => takeBack('redo', turn, force),
    content: blobs.bytes,
  }
}

const DAMAGED: Conflict = { path: '.', why: 'a part of the record of this turn can not be read', forceable: true }

/** Contents that the plan needs and that are not in the store as they were put there. */
async function lostIn(steps: readonly Step[], blobs: DiskBlobs): Promise<readonly Conflict[]> {
  const lost: Conflict[] = []
  for (const step of steps)
    if (step.kind === 'set' && step.after.kind === 'file' && !(await blobs.isWhole(step.after.hash)))
      lost.push({ path: step.path, why: 'its earlier content is damaged or missing where changes are kept', forceable: false })
  return lost
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
