import type { ToolOk } from '@mulligan/core'
import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'
import { callName, isFromFiles, okText } from '../say.ts'

const ERROR_TEXT = /^\s*(error\s*[:–—-]|\w*(error|exception):|fail(ed|ure)( to\b|:)|traceback \(most recent|\{\s*"error"\s*:\s*["{])/i

/** True when an ok result reads like a failure: a text that begins like one, or an object that is one. */
export function looksLikeError(result: ToolOk): boolean {
  if (ERROR_TEXT.test(okText(result).slice(0, 200))) return true
  const { data } = result
  if (typeof data !== 'object' || data === null || !('error' in data)) return false
  const { error } = data
  return (typeof error === 'string' && error !== '') || (typeof error === 'object' && error !== null)
}

/** A failure is never passed off as a success: not in the examples, not for a value that cannot be. */
export const errorAsSuccess: Check = {
  name: 'error_as_success',
  run: async (subject) => {
    const runs = [...(await subject.examples()), ...(await subject.oddValues())]
    if (runs.length === 0) return notRun('nothing to run')
    const faults = runs.flatMap((run) => {
      const { result } = run.observed.record
      if (!result.ok || !looksLikeError(result)) return []
      const text = okText(result)
      const [line = ''] = text.trim().split('\n')
      return isFromFiles(line, run.files) ? [] : [`${callName(run)} is ok, and says ${JSON.stringify(line.slice(0, 80))}`]
    })
    return verdict(faults)
  },
}
