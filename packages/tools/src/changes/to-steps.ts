/** What a tool asks for, as steps on the tree as it is now. */
import { ModelRetry } from '@mulligan/core'
import type { Change, FileState, State } from '../workspace/change.ts'
import { shown } from '../workspace/paths.ts'
import type { Resolved } from '../workspace/resolved.ts'
import type { Blobs } from './blobs.ts'
import { createPlanner, type Planner } from './planner.ts'
import { MISSING } from './state.ts'
import type { Step } from './step.ts'

/** @throws ModelRetry (conflict) when a file is not as the change takes it to be */
export async function toSteps(root: string, changes: readonly Change[], blobs: Blobs): Promise<readonly Step[]> {
  const planner = createPlanner(root, blobs)
  for (const change of changes) await plan(planner, (file) => shown(root, file.absolute), change, blobs)
  return planner.steps
}

async function plan(planner: Planner, pathOf: (file: Resolved) => string, change: Change, blobs: Blobs): Promise<void> {
  switch (change.kind) {
    case 'write': {
      const path = pathOf(change.file)
      const now = await planner.look(path)
      if (now.kind !== 'missing' && now.kind !== 'file') throw changedMeanwhile(change.file)
      if ((now.kind === 'file' ? now.hash : undefined) !== change.before) throw changedMeanwhile(change.file)
      const next = await contentOf(change.bytes, now, blobs)
      if (now.kind !== 'file' || next.hash !== now.hash) await planner.set(path, now, next)
      return
    }
    case 'delete': {
      const path = pathOf(change.file)
      await planner.set(path, await existing(planner, path, change.file, change.before), MISSING)
      return
    }
    case 'make_dir': {
      const path = pathOf(change.directory)
      if (path === '.') return
      const now = await planner.look(path)
      if (now.kind === 'missing') await planner.set(path, now, { kind: 'directory' })
      else if (now.kind !== 'directory') throw changedMeanwhile(change.directory)
      return
    }
    case 'move': {
      const [from, to] = [pathOf(change.from), pathOf(change.to)]
      const now = await existing(planner, from, change.from, change.before)
      if ((await planner.look(to)).kind !== 'missing') throw changedMeanwhile(change.to)
      await planner.move(from, to, now)
      if (change.bytes === undefined) return
      if (now.kind !== 'file') throw changedMeanwhile(change.from)
      const next = await contentOf(change.bytes, now, blobs)
      if (next.hash !== now.hash) await planner.set(to, now, next)
    }
  }
}

async function existing(planner: Planner, path: string, file: Resolved, before: string | undefined): Promise<State> {
  const now = await planner.look(path)
  if (now.kind === 'missing' || now.kind === 'other') throw changedMeanwhile(file)
  if (before !== undefined && (now.kind !== 'file' || now.hash !== before)) throw changedMeanwhile(file)
  return now
}

/** With mode and owner of the file that it replaces. */
async function contentOf(bytes: Uint8Array, now: State, blobs: Blobs): Promise<FileState> {
  const rights = now.kind === 'file' ? { mode: now.mode, owner: now.owner } : {}
  return { kind: 'file', hash: await blobs.put(bytes), size: bytes.length, ...rights } as FileState
}

export const changedMeanwhile = ({ relative }: Pick<Resolved, 'relative'>): ModelRetry =>
  new ModelRetry(`"${relative}" was changed by something else just now; nothing was written.`, {
    errorType: 'conflict',
    parameter: 'path',
    value: relative,
    constraint: 'a file that stays as it was read',
    call: { tool: 'read_file', input: { path: relative } },
  })
