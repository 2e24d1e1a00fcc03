import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'
import { callName, outcomeText } from '../say.ts'
import { changes } from '../workspace.ts'

/** Nothing found is ok with count 0, never an error; a call that is refused has done nothing. */
export const retryVersusEmpty: Check = {
  name: 'retry_versus_empty',
  run: async (subject) => {
    const runs = (await subject.examples()).filter(({ example }) => example?.outcome === 'empty' || example?.outcome === 'retry')
    if (runs.length === 0) return notRun('no empty or retry example to run')
    const faults = runs.flatMap((run) => {
      const { result } = run.observed.record
      if (run.example?.outcome === 'empty')
        return result.ok && result.count === 0 ? [] : [`${callName(run)} came to ${outcomeText(result)}, not to ok with count 0`]
      const changed = changes(run.observed.before, run.observed.after)
      return changed.length > 0 ? [`${callName(run)} changed ${changed.join(', ')}`] : []
    })
    return verdict(faults)
  },
}
