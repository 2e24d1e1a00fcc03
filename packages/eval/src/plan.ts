/** Which runs there are, in which order: the arms of a task one after another, so that a drift of the server hits them all alike. */
import type { Arm } from './arms/arm.ts'
import { randomFrom, shuffled } from './random.ts'

/** One run: a task, in an arm. */
export interface PlannedRun {
  readonly task: string
  /** From 1. */
  readonly run: number
  readonly arm: Arm
}

/** Run by run, tasks in an order by the seed, and within each task the arms in one of their own. */
export function planOf(tasks: readonly string[], arms: readonly Arm[], runs: number, seed: number): readonly PlannedRun[] {
  const random = randomFrom(seed)
  return Array.from({ length: runs }, (_, at) => at + 1).flatMap((run) =>
    shuffled(tasks, random).flatMap((task) => shuffled(arms, random).map((arm) => ({ task, run, arm }))),
  )
}
