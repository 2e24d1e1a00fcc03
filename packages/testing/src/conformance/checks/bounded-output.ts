import type { ToolResult } from '@mulligan/core'
import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'
import { callName, maxTokens, okText } from '../say.ts'

/** Characters. The engine cuts what the model reads; a tool that gives more than this in one call has no limit of its own. */
const CEILING = 1_000_000

/** What one call gives is bounded by the tool itself. */
export const boundedOutput: Check = {
  name: 'bounded_output',
  run: async (subject) => {
    const runs = await subject.examples()
    if (runs.length === 0) return notRun('nothing to run')
    const faults = runs.flatMap((run) => {
      const size = sizeOf(run.observed.record.result)
      return size > CEILING ? [`${callName(run)} gave ${size} characters in one call`] : []
    })
    return verdict(faults, { tokens: maxTokens(runs.map(({ observed }) => observed)) })
  },
}

function sizeOf(result: ToolResult): number {
  const display = result.display?.length ?? 0
  if (!result.ok) return Math.max(display, result.error.length, result.content ? okText({ content: result.content, data: null }).length : 0)
  return Math.max(display, okText(result).length, JSON.stringify(result.data)?.length ?? 0)
}
