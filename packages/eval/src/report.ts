/** The report, an object. It claims no more than the numbers say. */

import { oneLine } from '@mulligan/host/light'
import type { StoppedEarly } from './go.ts'
import { isMeasured, type RunRecord } from './record.ts'
import type { EvalHeader } from './results.ts'
import { type Summary, summarize } from './summary.ts'

export interface Report extends Summary {
  /** Every run that was planned was measured. */
  readonly complete: boolean
  /** Why it is not, for the person. */
  readonly incomplete?: string
  readonly planned: number
  readonly measured: number
  readonly conditions: Omit<EvalHeader, 'type'>
}

export function reportOf({ type: _, ...conditions }: EvalHeader, records: readonly RunRecord[], stopped: StoppedEarly | undefined): Report {
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
