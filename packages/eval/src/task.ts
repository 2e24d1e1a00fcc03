/** Defines a task of the eval: a small workspace, a prompt, and a check of whether the work was done. */
import type { Check, Files } from './check.ts'

/** One call, as a model would make it. */
export type TaskCall = readonly [tool: string, input: Readonly<Record<string, unknown>>]

/** What a model could do with a task. */
export interface Attempt {
  /** The calls of each step; calls of the same step are made in parallel. */
  readonly steps: readonly (readonly TaskCall[])[]
  readonly answer: string
}

/** What a task mainly tests. */
export type Capability = 'find' | 'tell' | 'path' | 'page' | 'parallel' | 'edit' | 'chain' | 'create' | 'shell' | 'effect' | 'bounds'

/** A task as it is listed for the user. */
export interface TaskInfo {
  readonly id: string
  readonly capability: Capability
  /** Needs shell commands; skipped if there is no sandbox. */
  readonly shell: boolean
  readonly title: string
  readonly prompt: string
}

export interface EvalTask extends Omit<TaskInfo, 'shell'> {
  readonly shell?: true
  /** Path → text. A path that begins with `../` is outside the workspace. */
  readonly files: Files
  /** A command that runs when the model is done; the check gets its exit code. */
  readonly verify?: string
  readonly check: Check
  /** An attempt that passes the check. */
  readonly reference: Attempt
  /** Attempts that must not pass: wrong work, and correct claims about work that was not done. */
  readonly wrong: readonly Attempt[]
}

export const task = (id: string, capability: Capability, title: string, rest: Omit<EvalTask, 'id' | 'capability' | 'title'>): EvalTask => ({
  id,
  capability,
  title,
  ...rest,
})

/** An attempt that only gives an answer. */
export const says = (answer: string): Attempt => ({ steps: [], answer })

/** An attempt with one call per step. */
export const does = (answer: string, ...calls: readonly TaskCall[]): Attempt => ({ steps: calls.map((call) => [call]), answer })
