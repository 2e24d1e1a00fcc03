/** All tasks. To add a task, add an entry to one of these lists. */
import { createHash } from 'node:crypto'
import type { EvalTask, TaskInfo } from '../task.ts'
import { CREATE } from './create.ts'
import { EDIT } from './edit.ts'
import { FIND } from './find.ts'
import { SHELL } from './shell.ts'

export const TASKS: readonly EvalTask[] = [...FIND, ...EDIT, ...CREATE, ...SHELL]

/** All tasks, in order. */
export const evalTasks = (): readonly TaskInfo[] =>
  TASKS.map(({ id, title, capability, shell = false, prompt }) => ({ id, capability, shell, title, prompt }))

export const taskOf = (id: string): EvalTask | undefined => TASKS.find((task) => task.id === id)

/** Identifies a set of tasks, because results of different sets cannot be combined. Does not cover the checks, which are code. */
export const fingerprintOf = (tasks: readonly EvalTask[]): string =>
  createHash('sha256')
    .update(JSON.stringify(tasks.map(({ id, files, prompt, verify }) => [id, files, prompt, verify]).sort()))
    .digest('hex')
    .slice(0, 12)
