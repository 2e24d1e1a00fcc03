/** What a tool does when it finds, finds nothing, is called wrong and fails: for a table with a row per tool. */
import type { ToolExample, ToolResult } from '@mulligan/core'
import type { Behaviour } from './report.ts'
import { outcomeText } from './say.ts'
import type { Subject } from './subject.ts'

const NONE = 'not shown'

export async function behaviourOf(subject: Subject): Promise<Behaviour> {
  const runs = await subject.examples()
  const of = (outcome: ToolExample['outcome']): string | undefined => {
    const run = runs.find(({ example }) => example?.outcome === outcome)
    if (run) return phrase(run.observed.record.result)
    const declared = subject.tool.examples.find((example) => example.outcome === outcome)
    return declared && `not run: ${subject.barred(declared)}`
  }
  return {
    found: of('ok') ?? NONE,
    empty: of('empty') ?? NONE,
    wrong: of('retry') ?? (await firstWrong(subject)) ?? NONE,
    failing: of('failed') ?? (await firstFailure(subject)) ?? NONE,
  }
}

async function firstWrong(subject: Subject): Promise<string | undefined> {
  const [first] = await subject.wrongTypes()
  return first && phrase(first.observed.record.result)
}

async function firstFailure(subject: Subject): Promise<string | undefined> {
  const results = (await subject.oddValues()).map(({ observed }) => observed.record.result)
  const failed = results.find((result) => !result.ok && result.status !== 'retry')
  return failed && phrase(failed)
}

function phrase(result: ToolResult): string {
  const says = outcomeText(result)
  if (result.ok || !result.details) return says
  const { call, suggestion, candidates, parameter } = result.details
  if (call) return `${says}, suggests a call`
  if (suggestion !== undefined || (candidates && candidates.length > 0)) return `${says}, suggests a value`
  return parameter === undefined ? says : `${says}, names ${parameter}`
}
