/** Collects steps, each on what the ones before it will have made of the tree. */
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { State } from '../workspace/change.ts'
import { type Blobs, keepFile } from './blobs.ts'
import { MISSING } from './state.ts'
import { after, parentOf, type Step } from './step.ts'
import { stateAt } from './tree.ts'

export interface Planner {
  readonly steps: readonly Step[]
  /** What will stand there. */
  readonly look: (path: string) => Promise<State>
  /** Keeps what stands there, where that is a file. The folders it lies in are made. */
  readonly set: (path: string, before: State, after: State, lenient?: boolean) => Promise<void>
  readonly move: (from: string, to: string, state: State) => Promise<void>
}

/** @param seen what was found on the disk just now, so that it is not read again; a step that is made looks itself */
export function createPlanner(root: string, blobs: Blobs, seen: ReadonlyMap<string, State> = new Map()): Planner {
  const steps: Step[] = []

  const look = async (path: string): Promise<State> => {
    const where = after(steps, path)
    return 'state' in where ? where.state : (seen.get(where.disk) ?? stateAt(root, where.disk))
  }

  const set: Planner['set'] = async (path, before, next, lenient) => {
    const where = after(steps, path)
    if (before.kind === 'file' && 'disk' in where) await keepFile(blobs, root, where.disk, before)
    const temporary = `.mulligan-${randomBytes(6).toString('hex')}.tmp`
    steps.push({ kind: 'set', path, before, after: next, temporary, ...(lenient && { lenient }) })
  }

  const makeParents = async (path: string): Promise<void> => {
    const folder = parentOf(path)
    if (folder === '' || (await look(folder)).kind !== 'missing') return
    await makeParents(folder)
    await set(folder, MISSING, { kind: 'directory' })
  }

  return {
    steps,
    look,
    set: async (path, before, next, lenient) => {
      if (next.kind !== 'missing') await makeParents(path)
      await set(path, before, next, lenient)
    },
    move: async (from, to, state) => {
      await makeParents(to)
      if (state.kind !== 'file' || (await sameDevice(root, steps, from, to))) {
        steps.push({ kind: 'move', from, to, state })
        return
      }
      // A rename does not lead from one file system to another.
      await set(from, state, MISSING)
      await set(to, MISSING, state)
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
