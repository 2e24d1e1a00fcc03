/** The report of the conformance suite, as data for a test's assertion, a table or JSON, and the words in it. */
import type { Effect, ToolResult } from '@mulligan/core'
import { type ContentPart, estimateTokens, type ToolExample } from '@mulligan/core/executor'
import type { Run, Subject } from './subject.ts'

/** `not_run` is not a pass: there was nothing to check, or the check was not allowed; `why` says which. */
export type CheckOutcome = 'pass' | 'fail' | 'not_run'

export interface Verdict {
  readonly outcome: CheckOutcome
  /** What was found, or why the check was not run. */
  readonly why?: string
  /** Estimated tokens of the largest result that the check looked at. */
  readonly tokens?: number
}

export interface CheckReport extends Verdict {
  readonly check: string
}

/** What the tool did in each case, as a short phrase: "ok, count 2", "retry (not_found), suggests a call". */
export interface Behaviour {
  readonly found: string
  readonly empty: string
  readonly wrong: string
  readonly failing: string
}

export interface ToolReport {
  readonly tool: string
  readonly effect: Effect
  readonly checks: readonly CheckReport[]
  readonly behaviour: Behaviour
  /** No check failed. */
  readonly conforms: boolean
}

export interface ConformanceReport {
  readonly tools: readonly ToolReport[]
  /** Every tool conforms, and there was at least one. */
  readonly conforms: boolean
  /** Why there were no tools to check. */
  readonly problem?: string
}

export const notRun = (why: string): Verdict => ({ outcome: 'not_run', why })

/** Fails with the faults, or passes if there are none. */
export const verdict = (faults: readonly string[], more: Omit<Verdict, 'outcome'> = {}): Verdict =>
  faults.length > 0 ? { ...more, outcome: 'fail', why: [...new Set(faults)].join('; ') } : { outcome: 'pass', ...more }

/** "ok", "ok, count 0", "retry (not_found)". */
export function outcomeText(result: ToolResult): string {
  if (!result.ok) return `${result.status} (${result.errorType})`
  return result.count === undefined ? 'ok' : `ok, count ${result.count}`
}

/** The name of a call in the report. */
export function callName({ example, observed }: Run): string {
  const input = JSON.stringify(observed.input)
  const short = input.length > 100 ? `${input.slice(0, 100)}…` : input
  return example ? `the ${example.outcome} example ${short}` : `the input ${short}`
}

/** Tokens of the largest text that the model would read. */
export const maxTokens = (runs: readonly Run[]): number => Math.max(0, ...runs.map(({ observed }) => estimateTokens(observed.text)))

/** The text of an ok result as the tool returned it: its content, otherwise its data. */
export function okText({ content, data }: { readonly content?: string | readonly ContentPart[]; readonly data: unknown }): string {
  if (typeof content === 'string') return content
  if (content !== undefined) return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
}

/** What the tool does when it finds something, finds nothing, is called wrong, and fails. */
export async function behaviourOf(subject: Subject): Promise<Behaviour> {
  const runs = await subject.examples()
  const of = (outcome: ToolExample['outcome']): string | undefined => {
    const run = runs.find(({ example }) => example?.outcome === outcome)
    if (run) return phrase(run)
    const declared = subject.tool.examples.find((example) => example.outcome === outcome)
    return declared && `not run: ${subject.barred(declared)}`
  }
  const isFailure = ({ observed: { record } }: Run): boolean => !record.result.ok && record.result.status !== 'retry'
  return {
    found: of('ok') ?? NONE,
    empty: of('empty') ?? NONE,
    wrong: of('retry') ?? phrase((await subject.wrongTypes())[0]),
    failing: of('failed') ?? phrase((await subject.oddValues()).find(isFailure)),
  }
}

const NONE = 'not shown'

function phrase(run: Run | undefined): string {
  if (!run) return NONE
  const { result } = run.observed.record
  const says = outcomeText(result)
  if (result.ok || !result.details) return says
  const { call, suggestion, candidates, parameter } = result.details
  if (call) return `${says}, suggests a call`
  if (suggestion !== undefined || (candidates && candidates.length > 0)) return `${says}, suggests a value`
  return parameter === undefined ? says : `${says}, names ${parameter}`
}
