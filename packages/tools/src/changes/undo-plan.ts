/** Plans how to restore the state before some steps, based on the current tree. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { State } from '../workspace/change.ts'
import { PROTECTED, protection } from '../workspace/protect.ts'
import type { DiskBlobs } from './blobs.ts'
import { isIndex, saySame } from './git-index.ts'
import type { Changeset } from './journal.ts'
import { createPlanner, type Planner } from './planner.ts'
import { coalesced, inverse, isBelow, isRather, type MoveStep, movedBack, type SetStep, type Step, sameState } from './state.ts'
import { codeOf, stateAt } from './tree.ts'

export interface Conflict {
  readonly path: string
  readonly why: string
  /** Whether `force` resolves it by overwriting the path. */
  readonly forceable: boolean
}

/** Context for planning a step. */
interface Planning {
  readonly root: string
  readonly planner: Planner
  readonly blobs: DiskBlobs
  readonly movedTo: (path: string) => Gone | undefined
  readonly isProtected: (path: string) => Promise<boolean>
}

/**
 * Plans to undo steps.
 *
 * @param steps the steps to undo
 * @param movedTo returns where others have since moved the result of the steps at a path
 * @returns the steps of the plan; the conflicts, where the tree differs from the result of the steps (the plan includes those that can be
 * forced); and the steps that it does not undo
 */
export async function planUndo(root: string, steps: readonly Step[], blobs: DiskBlobs, movedTo: Planning['movedTo']) {
  const planner = createPlanner(root, blobs)
  const planning: Planning = { root, planner, blobs, movedTo, isProtected: protectedSince(root) }
  const conflicts: Conflict[] = []
  const left: Step[] = []
  for (const step of coalesced(inverse(steps))) {
    const conflict = step.kind === 'move' ? await planMove(planning, step) : await planSet(planning, step)
    if (!conflict) continue
    conflicts.push(conflict)
    if (!conflict.forceable) left.push(step)
  }
  return { steps: planner.steps, conflicts, left: inverse(left) }
}

/**
 * Returns a check for paths that were not protected when recorded but are now reached through `.git` or the like. A path that contains a
 * protected name was recorded that way.
 */
function protectedSince(root: string): (path: string) => Promise<boolean> {
  const isProtected = protection(root, PROTECTED)
  return async (path) => {
    if (path.split('/').some((name) => (PROTECTED as readonly string[]).includes(name))) return false
    // A link to itself leads nowhere; the plan replaces it with a folder first.
    return isProtected(join(root, path), join(root, path)).catch((error: unknown) => {
      if (codeOf(error) !== 'ELOOP') throw error
      return false
    })
  }
}

const IN_THE_WAY = 'a folder above it is now a file or a link'
const stuck = (path: string, why: string): Conflict => ({ path, why, forceable: false })
const gone = (path: string, { to, turn }: Gone): Conflict => stuck(path, `it was moved to ${to} by turn ${turn}: undo that first`)

/** `step.before` is the state after the turn, `step.after` the state before it. */
async function planSet(planning: Planning, { path, before: left, after: wanted }: SetStep): Promise<Conflict | undefined> {
  const { root, planner, blobs, movedTo, isProtected } = planning
  const now = await look(planner, path)
  if (now === undefined) return stuck(path, IN_THE_WAY)
  const isLeft = sameState(now, left) || (await isSameIndex(planning, path, now, left))
  const moved = isLeft ? undefined : movedTo(path)
  if (moved) return gone(path, moved)
  if (wanted.kind === 'missing' && left.kind === 'directory') {
    if (now.kind === 'directory') await planner.set(path, now, wanted, true)
    return undefined
  }
  if (isRather(now, wanted, left)) return undefined
  if (now.kind === 'directory' && left.kind === 'directory' && wanted.kind === 'directory') {
    await planner.set(path, now, wanted)
    return undefined
  }
  if (now.kind === 'directory' || now.kind === 'other')
    return stuck(path, now.kind === 'directory' ? 'it is now a folder' : 'it is no longer a file')
  if (now.kind === 'link' && !sameState(now, left)) return stuck(path, 'it is now a link')
  if (wanted.kind === 'directory' && now.kind !== 'missing') return stuck(path, 'it is now a file')
  if (await isFileAbove(root, planner, path)) return stuck(path, IN_THE_WAY)
  if (await isProtected(path)) return stuck(path, 'it is protected now')
  if (wanted.kind === 'file' && !(await blobs.isWhole(wanted.hash)))
    return stuck(path, 'the saved copy of its earlier content is damaged or missing')
  await planner.set(path, now, wanted)
  if (isLeft) return undefined
  return { path, why: now.kind === 'missing' ? 'it was removed since' : 'it was changed since', forceable: true }
}

/** Compares git indexes by meaning, because any program that looked at the repository since may have rewritten the index. */
async function isSameIndex({ root, blobs }: Planning, path: string, now: State, left: State): Promise<boolean> {
  if (!isIndex(path) || now.kind !== 'file' || left.kind !== 'file') return false
  return Promise.all([readFile(join(root, path)), blobs.bytes(left.hash)]).then(
    ([is, was]) => saySame(is, was),
    () => false,
  )
}

async function planMove({ root, planner, movedTo, isProtected }: Planning, { from, to, state }: MoveStep): Promise<Conflict | undefined> {
  const [now, there] = [await look(planner, from), await look(planner, to)]
  if (now?.kind !== state.kind) {
    const moved = movedTo(from)
    return moved ? gone(from, moved) : stuck(from, 'it was removed or replaced since')
  }
  for (const path of [from, to]) {
    if (await isFileAbove(root, planner, path)) return stuck(path, IN_THE_WAY)
    if (await isProtected(path)) return stuck(path, 'it is protected now')
  }
  if (there?.kind !== 'missing') return stuck(to, there ? 'something else is there now' : IN_THE_WAY)
  await planner.move(from, to, now)
  return sameState(now, state) ? undefined : { path: from, why: 'it was changed since', forceable: true }
}

/** Returns undefined if the path leads through a file. */
async function look(planner: Planner, path: string): Promise<State | undefined> {
  try {
    return await planner.look(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'ELOOP') throw error
    return undefined
  }
}

/** Returns true if a parent of the path is no longer a folder and the plan does not fix that. */
async function isFileAbove(root: string, planner: Planner, path: string): Promise<boolean> {
  const names = path.split('/')
  for (let count = 1; count < names.length; count++) {
    const folder = names.slice(0, count).join('/')
    const planned = planner.steps.some((step) => step.kind === 'set' && (step.path === folder || isBelow(step.path, folder)))
    const state = planned ? await planner.look(folder) : await stateAt(root, folder)
    if (state.kind !== 'directory' && state.kind !== 'missing') return true
  }
  return false
}

interface Gone {
  readonly to: string
  /** The turn that moved it there. */
  readonly turn: string
}

/**
 * Follows the recorded moves of a path.
 *
 * @param later changesets of other turns since then, oldest first
 * @returns undefined if it is still there, or if it was removed instead of moved
 */
export function movedSince(later: readonly Changeset[], path: string): Gone | undefined {
  let gone: Gone = { to: path, turn: '' }
  for (const { turn, steps } of later)
    for (const step of steps) {
      if (step.kind === 'set') {
        if (step.path === gone.to && step.after.kind === 'missing') return undefined
        continue
      }
      const to = movedBack(gone.to, step.to, step.from)
      if (to !== undefined) gone = { to, turn }
    }
  return gone.to === path ? undefined : gone
}
