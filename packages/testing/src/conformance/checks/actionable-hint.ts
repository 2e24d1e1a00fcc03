import type { Tool, ToolError } from '@mulligan/core'
import type { Check } from '../check.ts'
import { parameters } from '../probes.ts'
import { notRun, verdict } from '../report.ts'
import { callName, maxTokens, outcomeText } from '../say.ts'
import type { Run } from '../subject.ts'

const BARE = /^\W*(invalid|bad|wrong|illegal|incorrect|malformed)?\s*(input|parameters?|arguments?|params?|args?|request|values?)?\W*$/i

/** A wrong call is told what is wrong and what to do; a call it suggests works as it stands. */
export const actionableHint: Check = {
  name: 'actionable_hint',
  run: async (subject) => {
    const runs = [...(await subject.examples()), ...(await subject.oddValues())]
    const wrong = runs.filter(({ observed: { record } }) => !record.result.ok && record.result.status === 'retry')
    if (wrong.length === 0) return notRun('no call came to retry')
    const faults = wrong.flatMap((run) => faultsOf(run, subject.tool).map((fault) => `${callName(run)}: ${fault}`))
    return verdict(faults, { tokens: maxTokens(wrong.map(({ observed }) => observed)) })
  },
}

function faultsOf({ observed, followed }: Run, tool: Tool): string[] {
  const result = observed.record.result as ToolError
  const { details = {} } = result
  const named = details.parameter !== undefined && mentions(observed.text, details.parameter)
  // A parameter called "input" does not make "Invalid input" a hint.
  const told = named || (!BARE.test(result.error) && parameters(tool).some((name) => mentions(observed.text, name)))
  const about = told || details.value !== undefined || details.constraint !== undefined
  const offered = details.suggestion !== undefined || (details.candidates?.length ?? 0) > 0 || details.call !== undefined
  const faults: string[] = []
  if (!about) faults.push(`${JSON.stringify(result.error.slice(0, 80))} names no parameter, value or constraint`)
  else if (!offered && !told) faults.push(`${JSON.stringify(result.error.slice(0, 80))} does not say what to do`)
  if (followed && !followed.record.result.ok)
    faults.push(`the call it suggests, ${JSON.stringify(followed.input)}, came to ${outcomeText(followed.record.result)}`)
  return faults
}

/** The name is in the text as a word of its own. */
function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().split(name.toLowerCase())
  return at.some((before, index) => index < at.length - 1 && !/\w$/.test(before) && !/^\w/.test(at[index + 1] as string))
}
