import type { ToolExample, ToolResult } from '@mulligan/core'
import type { Check } from '../check.ts'
import { parameters } from '../probes.ts'
import { notRun, verdict } from '../report.ts'
import { callName, maxTokens, outcomeText } from '../say.ts'
import { looksLikeError } from './error-as-success.ts'

/** `empty` is the business of retry_versus_empty. */
const COMES_TO: Readonly<Record<ToolExample['outcome'], (result: ToolResult) => boolean>> = {
  ok: (result) => result.ok && result.count !== 0,
  empty: () => true,
  retry: (result) => (result.ok ? looksLikeError(result) : result.status === 'retry'),
  failed: (result) => (result.ok ? looksLikeError(result) : result.status === 'failed' || result.status === 'unavailable'),
}

/** An `ok` example, a `retry` one where there is a parameter, and each comes to the outcome it declares. */
export const examples: Check = {
  name: 'examples',
  run: async (subject) => {
    const { tool, barred } = subject
    const has = (outcome: ToolExample['outcome']): boolean => tool.examples.some((example) => example.outcome === outcome)
    const faults: string[] = []
    if (!has('ok')) faults.push('no ok example')
    if (!has('retry') && parameters(tool).length > 0) faults.push('no retry example')
    const runs = await subject.examples()
    for (const run of runs) {
      const { result } = run.observed.record
      if (run.example && !COMES_TO[run.example.outcome](result))
        faults.push(`${callName(run)} came to ${outcomeText(result)}${result.ok ? '' : `: ${result.error}`}`)
    }
    const left = tool.examples.filter(barred)
    if (faults.length === 0 && runs.length === 0) return notRun('it would leave this machine')
    const why = left.length > 0 ? { why: `${left.length} of ${tool.examples.length} examples not run: they would leave this machine` } : {}
    return verdict(faults, { tokens: maxTokens(runs.map(({ observed }) => observed)), ...why })
  },
}
