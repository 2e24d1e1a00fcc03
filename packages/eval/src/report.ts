/** The report, an object. It claims no more than the numbers say. */
import { oneLine } from '@mulligan/host/light'
import type { StoppedEarly } from './go.ts'
import { isMeasured, type RunRecord } from './record.ts'
import type { EvalConditions, EvalHeader } from './results.ts'
import { type Summary, summarize } from './summary.ts'

/** What was measured, and what follows from it. */
export interface EvalReport extends Summary {
  /** Every run that was planned was measured. */
  readonly complete: boolean
  /** Why it is not, for the user. */
  readonly incomplete?: string
  /** Runs in all. */
  readonly planned: number
  /** Of them, those that say something of the model: its server could be had. */
  readonly measured: number
  readonly conditions: EvalConditions
}

export function reportOf(
  { type: _, ...conditions }: EvalHeader,
  records: readonly RunRecord[],
  stopped: StoppedEarly | undefined,
): EvalReport {
  const { tasks, arms, runs, seed } = conditions
  const planned = tasks.length * arms.length * runs
  const measured = records.filter(isMeasured).length
  const why = stopped ? WHY[stopped.by](stopped) : 'the model’s server could not be had in some runs'
  return {
    complete: measured === planned,
    ...(measured < planned && { incomplete: `${measured} of ${planned} runs were measured: ${why}` }),
    planned,
    measured,
    conditions,
    ...summarize(records, tasks, arms, seed),
  }
}

const WHY: { readonly [By in StoppedEarly['by']]: (stopped: StoppedEarly) => string } = {
  person: () => 'it was stopped',
  server: () => 'the model’s server gave no answer in three runs one after another',
  fault: (stopped) => `it could not go on: ${'why' in stopped ? oneLine(stopped.why, 300) : ''}`,
}
