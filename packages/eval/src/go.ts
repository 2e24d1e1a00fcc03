/** Plans the runs, and makes them one after another or several at once. */
import type { Arm } from './arms/arm.ts'
import type { RunRecord } from './results.ts'
import { randomFrom, shuffled } from './stats.ts'

/** One run: a task in an arm. */
export interface PlannedRun {
  readonly task: string
  /** From 1. */
  readonly run: number
  readonly arm: Arm
}

/**
 * All runs in order. The seed determines the order of the tasks in each round, and of the arms of each task. The arms of a task follow
 * one another, so that a change in the server's speed affects them equally.
 */
export function planOf(tasks: readonly string[], arms: readonly Arm[], runs: number, seed: number): readonly PlannedRun[] {
  const random = randomFrom(seed)
  return Array.from({ length: runs }, (_, at) => at + 1).flatMap((run) =>
    shuffled(tasks, random).flatMap((task) => shuffled(arms, random).map((arm) => ({ task, run, arm }))),
  )
}

/** `fault`: a problem on this machine, such as a full disk; `why` describes it. */
export type StoppedEarly = { readonly by: 'person' | 'server' } | { readonly by: 'fault'; readonly why: string }

/** After so many consecutive runs without a reply, the server is considered gone. */
const GONE_AFTER = 3

/**
 * Makes the runs, and stops early if continuing would measure nothing. An exception ends the eval; completed runs are kept.
 * @param make makes one run and keeps its record; undefined if the run was stopped
 * @returns why the eval stopped before the last run, if it did
 */
export async function go(
  planned: readonly PlannedRun[],
  make: (run: PlannedRun) => Promise<RunRecord | undefined>,
  { concurrency = 1, signal }: { readonly concurrency?: number | undefined; readonly signal: AbortSignal },
): Promise<StoppedEarly | undefined> {
  const left = planned.values()
  let failedInRow = 0
  let stopped: StoppedEarly | undefined = signal.aborted ? { by: 'person' } : undefined

  async function work(): Promise<void> {
    for (const run of stopped ? [] : left) {
      try {
        const record = await make(run)
        if (record) failedInRow = record.ended === 'provider' ? failedInRow + 1 : 0
        if (failedInRow >= GONE_AFTER) stopped ??= { by: 'server' }
      } catch (error) {
        stopped ??= { by: 'fault', why: error instanceof Error ? error.message : String(error) }
      }
      if (signal.aborted) stopped ??= { by: 'person' }
      if (stopped) return
    }
  }

  await Promise.all(Array.from({ length: concurrency }, work))
  return stopped
}
