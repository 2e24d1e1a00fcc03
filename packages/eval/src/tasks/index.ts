/** All tasks. A new one is an entry in one of these lists. */
import { createHash } from 'node:crypto'
import type { EvalTask, TaskInfo } from '../task.ts'
import { CREATE } from './create.ts'
import { EDIT } from './edit.ts'
import { FIND } from './find.ts'
import { SHELL } from './shell.ts'

export const TASKS: readonly EvalTask[] = [...FIND, ...EDIT, ...CREATE, ...SHELL]

/** All tasks that there are, in order. */
export const evalTasks = (): readonly TaskInfo[] =>
  TASKS.map(({ id, title, capability, shell = false, prompt }) => ({ id, capability, shell, title, prompt }))

/** Tells sets of tasks apart: results of different ones are not to be put together. Checks are code, and not in it. */
export const fingerprintOf = (tasks: readonly EvalTask[]): string =>
  createHash('sha256')
    .update(JSON.stringify(tasks.map(({ id, files, prompt, verify }) => [id, files, prompt, verify]).sort()))
    .digest('hex')
    .slice(0, 12)
