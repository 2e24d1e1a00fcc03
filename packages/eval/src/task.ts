/** What a task of the eval is: a small workspace, what is asked for, and how to see whether it was done. */
import type { Check, Files } from './check.ts'

/** One call, as a model would make it. */
export type TaskCall = readonly [tool: string, input: Readonly<Record<string, unknown>>]

/** What a model could do with a task. */
export interface Attempt {
  /** The calls of each step; those of one step are made side by side. */
  readonly steps: readonly (readonly TaskCall[])[]
  readonly answer: string
}

/** What a task mostly asks of a model. */
export type Capability = 'find' | 'tell' | 'path' | 'page' | 'parallel' | 'edit' | 'chain' | 'create' | 'shell' | 'effect' | 'bounds'

/** What a task is, for the user. */
export interface TaskInfo {
  readonly id: string
  readonly capability: Capability
  /** It can't be done without commands: left out where there is no sandbox. */
  readonly shell: boolean
  readonly title: string
  readonly prompt: string
}

export interface EvalTask extends Omit<TaskInfo, 'shell'> {
  readonly shell?: true
  /** Path → text. A path that begins with `../` is beside the workspace. */
  readonly files: Files
  /** A command that is run when the model is done; its exit code is in what happened. */
  readonly verify?: string
  readonly check: Check
  /** What passes the check. */
  readonly reference: Attempt
  /** What must not pass: wrong work, and right words about work that was not done. */
  readonly wrong: readonly Attempt[]
}

/** An attempt that only says something. */
export const says = (answer: string): Attempt => ({ steps: [], answer })

/** An attempt with one call a step. */
export const does = (answer: string, ...calls: readonly TaskCall[]): Attempt => ({ steps: calls.map((call) => [call]), answer })
