/** The plan that brings back what was before some steps, from the tree as it is now. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { State } from '../workspace/change.ts'
import { PROTECTED, protection } from '../workspace/protect.ts'
import type { DiskBlobs } from './blobs.ts'
import { isIndex, saySame } from './git-index.ts'
import type { Gone } from './moves.ts'
import { createPlanner, type Planner } from './planner.ts'
import { isRather, sameState } from './state.ts'
import { coalesced, inverse, isBelow, type MoveStep, type SetStep, type Step } from './step.ts'
import { codeOf, stateAt } from './tree.ts'

export interface Conflict {
  readonly path: string
  readonly why: string
  /** `force` helps: what stands there is overwritten. */
  readonly forceable: boolean
}

export interface UndoPlan {
  readonly steps: readonly Step[]
  /** Where the tree is not as the steps left it. Those that can be forced are in the plan. */
  readonly conflicts: readonly Conflict[]
  /** Of the steps, those that the plan does not take back. */
  readonly left: readonly Step[]
}

/** What a step is planned with. */
interface Planning {
  readonly root: string
  readonly planner: Planner
  readonly blobs: DiskBlobs
  readonly movedTo: (path: string) => Gone | undefined
  readonly isProtected: (path: string) => Promise<boolean>
}

/**
 * @param steps what is to be taken back
 * @param movedTo where others have moved since what the steps left at a path
 */
export async function planUndo(
  root: string,
  steps: readonly Step[],
  blobs: DiskBlobs,
  movedTo: (path: string) => Gone | undefined,
): Promise<UndoPlan> {
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

/** A path that was free when it was recorded, and that `.git` or the like leads to now. One with such a name in it was recorded there. */
function protectedSince(root: string): (path: string) => Promise<boolean> {
  const isProtected = protection(root, PROTECTED)
  return async (path) => {
    if (path.split('/').some((name) => (PROTECTED as readonly string[]).includes(name))) return false
    // Through a link that leads to itself nothing is reached; the plan puts a folder there first.
    return isProtected(join(root, path), join(root, path)).catch((error: unknown) => {
      if (codeOf(error) !== 'ELOOP') throw error
      return false
    })
  }
}

const IN_THE_WAY = 'it lies in what is now a file or a link'
const stuck = (path: string, why: string): Conflict => ({ path, why, forceable: false })
const gone = (path: string, { to, turn }: Gone): Conflict => stuck(path, `it was moved to ${to} by turn ${turn}: undo that first`)

/** `step.before` is what the turn has left, `step.after` what was there before it. */
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
  if (now.kind === 'directory' || now.kind === 'other') return stuck(path, `it is now ${now.kind === 'directory' ? 'a folder' : 'no file'}`)
  if (now.kind === 'link' && !sameState(now, left)) return stuck(path, 'it is now a link')
  if (wanted.kind === 'directory' && now.kind !== 'missing') return stuck(path, 'it is now a file')
  if (await isFileAbove(root, planner, path)) return stuck(path, IN_THE_WAY)
  if (await isProtected(path)) return stuck(path, 'it is protected now')
  if (wanted.kind === 'file' && !(await blobs.isWhole(wanted.hash)))
    return stuck(path, 'its earlier content is damaged or missing where changes are kept')
  await planner.set(path, now, wanted)
  if (isLeft) return undefined
  return { path, why: now.kind === 'missing' ? 'it was removed since' : 'it was changed since', forceable: true }
}

/** Whoever has looked at the repository since may have written its index anew. */
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
  if (there?.kind !== 'missing') return stuck(to, there ? 'something else stands there now' : IN_THE_WAY)
  await planner.move(from, to, now)
  return sameState(now, state) ? undefined : { path: from, why: 'it was changed since', forceable: true }
}

/** Undefined where the path leads through a file. */
async function look(planner: Planner, path: string): Promise<State | undefined> {
  try {
    return await planner.look(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'ELOOP') throw error
    return undefined
  }
}

/** A folder of the path that is none any more, and that the plan does not put right. */
async function isFileAbove(root: string, planner: Planner, path: string): Promise<boolean> {
  const [first = '', ...rest] = path.split('/').slice(0, -1)
  let folder = ''
  for (const name of first === '' ? [] : [first, ...rest]) {
    folder = folder === '' ? name : `${folder}/${name}`
    const planned = planner.steps.some((step) => step.kind === 'set' && (step.path === folder || isBelow(step.path, folder)))
    const state = planned ? await planner.look(folder) : await stateAt(root, folder)
    if (state.kind !== 'directory' && state.kind !== 'missing') return true
  }
  return false
}
