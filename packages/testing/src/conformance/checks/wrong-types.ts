import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'
import { maxTokens, outcomeText } from '../say.ts'
import type { TypeRun } from '../subject.ts'
import { changes } from '../workspace.ts'

/** A required parameter that is missing or of a wrong type is a retry that names it, and nothing is done. */
export const wrongTypes: Check = {
  name: 'wrong_types',
  run: async (subject) => {
    const runs = await subject.wrongTypes()
    if (runs.length === 0) return notRun('no required parameter')
    return verdict(runs.flatMap(faultsOf), { tokens: maxTokens(runs.map(({ observed }) => observed)) })
  },
}

function faultsOf({ probe: { parameter, how }, observed }: TypeRun): string[] {
  const { record, text, before, after } = observed
  const changed = changes(before, after)
  if (changed.length > 0) return [`${parameter} ${how}: changed ${changed.join(', ')}`]
  const { result } = record
  if (result.ok || result.status !== 'retry')
    return [`${parameter} ${how}: came to ${outcomeText(result)}${observed.ran ? ', and ran' : ''}`]
  return text.includes(parameter) ? [] : [`${parameter} ${how}: the hint does not name it`]
}
