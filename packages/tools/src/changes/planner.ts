/**
 * Collects the steps of a plan, each based on the tree as the previous steps will leave it, and converts the changes of a tool to steps.
 */
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import type { Change, FileState, Resolved, State } from '../workspace/change.ts'
import { about, tryCall } from '../workspace/errors.ts'
import { shown } from '../workspace/paths.ts'
import { type Blobs, keepFile } from './blobs.ts'
import { after, MISSING, parentOf, type Step } from './state.ts'
import { stateAt } from './tree.ts'

export type Planner = ReturnType<typeof createPlanner>

/** @param seen states just read from the disk, so that they are not read again; making a step checks the disk anyway */
export function createPlanner(root: string, blobs: Blobs, seen: ReadonlyMap<string, State> = new Map()) {
  const steps: Step[] = []

  /** Returns the state that the path will have. */
  const look = async (path: string): Promise<State> => {
    const where = after(steps, path)
    return 'state' in where ? where.state : (seen.get(where.disk) ?? stateAt(root, where.disk))
  }

  const add = async (path: string, before: State, next: State, lenient = false): Promise<void> => {
    const where = after(steps, path)
    if (before.kind === 'file' && 'disk' in where) await keepFile(blobs, root, where.disk, before)
    const temporary = `.mulligan-${randomBytes(6).toString('hex')}.tmp`
    steps.push({ kind: 'set', path, before, after: next, temporary, ...(lenient && { lenient }) })
  }

  const makeParents = async (path: string): Promise<void> => {
    const folder = parentOf(path)
    if (folder === '' || (await look(folder)).kind !== 'missing') return
    await makeParents(folder)
    await add(folder, MISSING, { kind: 'directory' })
  }

  return {
    steps: steps as readonly Step[],
    look,
    /** Stores the current content if it is a file, and creates missing parent folders. */
    set: async (path: string, before: State, next: State, lenient?: boolean): Promise<void> => {
      if (next.kind !== 'missing') await makeParents(path)
      await add(path, before, next, lenient)
    },
    move: async (from: string, to: string, state: State): Promise<void> => {
      await makeParents(to)
      if (state.kind !== 'file' || (await sameDevice(root, steps, from, to))) {
        steps.push({ kind: 'move', from, to, state })
        return
      }
      // A rename can't cross file systems.
      await add(from, state, MISSING)
      await add(to, MISSING, state)
    },
  }
}

async function sameDevice(root: string, steps: readonly Step[], from: string, to: string): Promise<boolean> {
  const deviceOf = async (path: string): Promise<number> => {
    const where = after(steps, path)
    const found = 'disk' in where ? await stat(join(root, where.disk)).catch(() => undefined) : undefined
    return found ? found.dev : path === '' ? -1 : deviceOf(parentOf(path))
  }
  return (await deviceOf(parentOf(from))) === (await deviceOf(parentOf(to)))
}

/** @throws ModelRetry (conflict) if a file is not in the state that the change expects */
export async function toSteps(root: string, changes: readonly Change[], blobs: Blobs): Promise<readonly Step[]> {
  const planner = createPlanner(root, blobs)
  for (const change of changes) await plan(planner, (file) => shown(root, file.absolute), change, blobs)
  return planner.steps
}

async function plan(planner: Planner, pathOf: (file: Resolved) => string, change: Change, blobs: Blobs): Promise<void> {
  const asked = change.kind === 'make_dir' ? change.directory : change.kind === 'move' ? change.from : change.file
  const path = pathOf(asked)
  if (change.kind === 'make_dir' && path === '.') return
  const now = await planner.look(path)
  const isFree = now.kind === 'missing'
  if (change.kind === 'make_dir') {
    if (isFree) await planner.set(path, now, { kind: 'directory' })
    else if (now.kind !== 'directory') throw changedMeanwhile(asked)
    return
  }
  const hash = now.kind === 'file' ? now.hash : undefined
  if (change.kind === 'write') {
    if ((!isFree && now.kind !== 'file') || hash !== change.before) throw changedMeanwhile(asked)
    const next = await contentOf(change.bytes, now, blobs)
    if (next.hash !== hash) await planner.set(path, now, next)
    return
  }
  if (isFree || now.kind === 'other' || (change.before !== undefined && hash !== change.before)) throw changedMeanwhile(asked)
  if (change.kind === 'delete') return planner.set(path, now, MISSING)
  const to = pathOf(change.to)
  if ((await planner.look(to)).kind !== 'missing') throw changedMeanwhile(change.to)
  await planner.move(path, to, now)
  if (change.bytes === undefined) return
  if (hash === undefined) throw changedMeanwhile(asked)
  const next = await contentOf(change.bytes, now, blobs)
  if (next.hash !== hash) await planner.set(to, now, next)
}

/** Keeps the mode and owner of the replaced file. */
async function contentOf(bytes: Uint8Array, now: State, blobs: Blobs): Promise<FileState> {
  const rights = now.kind === 'file' ? { mode: now.mode, owner: now.owner } : {}
  return { kind: 'file', hash: await blobs.put(bytes), size: bytes.length, ...rights } as FileState
}

export function changedMeanwhile({ relative }: Pick<Resolved, 'relative'>): ModelRetry {
  const more = { errorType: 'conflict', ...tryCall('read_file', { path: relative }) } as const
  const says = `"${relative}" was changed by something else just now; nothing was written.`
  return new ModelRetry(says, about('path', relative, 'a file that stays as it was read', more))
}
