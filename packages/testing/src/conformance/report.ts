/** What the conformance suite finds, as data: for a test's assertion, a table in a terminal, or JSON. */
import type { Effect } from '@mulligan/core'

/** `not_run` is not a pass: the check had nothing to look at, or was not allowed to; `why` says which. */
export type CheckOutcome = 'pass' | 'fail' | 'not_run'

export interface Verdict {
  readonly outcome: CheckOutcome
  /** What was found, or why it was not run. */
  readonly why?: string
  /** Estimated tokens of the largest result that the check looked at. */
  readonly tokens?: number
}

export interface CheckReport extends Verdict {
  readonly check: string
}

/** What the tool did in each case, a short phrase each: "ok, count 2", "retry (not_found), suggests a call". */
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
  /** Every tool conforms, and there was a toolset to look at. */
  readonly conforms: boolean
  /** Why there was none. */
  readonly problem?: string
}

export const pass = (more: Omit<Verdict, 'outcome'> = {}): Verdict => ({ outcome: 'pass', ...more })
export const notRun = (why: string): Verdict => ({ outcome: 'not_run', why })

/** Fails with the faults, or passes when there are none. */
export const verdict = (faults: readonly string[], more: Omit<Verdict, 'outcome'> = {}): Verdict =>
  faults.length > 0 ? { ...more, outcome: 'fail', why: [...new Set(faults)].join('; ') } : pass(more)
