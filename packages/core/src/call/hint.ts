/** Turns an invalid input into a result that explains how to fix it, with a corrected call if possible. */
import { canonical, type Issue, issuesText, type NameIndex, pathText, withPath } from '@mulligan/repair'
import { type ErrorDetails, notOk, type SuggestedCall, type ToolError } from '../result.ts'
import type { Tool } from '../tool.ts'

/** The properties of a tool that a hint is made of. */
export interface HintTool extends Pick<Tool, 'name' | 'examples'> {
  readonly check: Pick<Tool['check'], 'check'>
}

/** Returns the `retry` result for an input that does not fit its schema. */
export async function invalidInput(tool: HintTool, input: Record<string, unknown>, issues: readonly Issue[]): Promise<ToolError> {
  const first = issues.find((issue) => issue.meantKey !== undefined) ?? issues[0]
  if (!first) throw new RangeError('no issue to tell')
  const fixed = fix(input, issues)
  const works = fixed !== undefined && (await tool.check.check(fixed)).ok
  const example = tool.examples.find((one) => one.outcome === 'ok')
  const parameter = pathText(first.path)
  const details: ErrorDetails = {
    ...(parameter !== '' && { parameter }),
    value: first.value ?? null,
    constraint: first.constraint,
    ...(first.suggestion !== undefined && { suggestion: first.suggestion }),
    ...(first.candidates && { candidates: first.candidates }),
    ...(works && { call: { tool: tool.name, input: fixed } }),
    ...(!works && example && { example: { tool: tool.name, input: example.input } }),
  }
  return notOk('validation', issuesText(issues), { details })
}

/** Returns the input with every issue fixed; undefined if one issue does not say how to fix it. */
function fix(input: Record<string, unknown>, issues: readonly Issue[]): Record<string, unknown> | undefined {
  let fixed: unknown = input
  const meant = new Set(
    issues.map((issue) => (issue.meantKey === undefined ? undefined : pathText([...issue.path.slice(0, -1), issue.meantKey]))),
  )
  for (const issue of issues) {
    if (issue.unknownKey !== undefined) {
      fixed = withPath(fixed, issue.path, undefined)
      if (issue.meantKey !== undefined) fixed = withPath(fixed, [...issue.path.slice(0, -1), issue.meantKey], issue.value)
    } else if (issue.suggestion !== undefined) fixed = withPath(fixed, issue.path, issue.suggestion)
    else if (!meant.has(pathText(issue.path))) return undefined
  }
  return fixed as Record<string, unknown>
}

/**
 * Completes a failure's hint with the call to make instead, built from `parameter` and `suggestion` if the tool gave none. The call is
 * omitted unless it is valid, so a suggested call is never wrong.
 */
export async function completeHint(error: ToolError, tool: Tool, input: unknown, index: NameIndex<Tool>): Promise<ToolError> {
  if (!error.details) return error
  const { call, ...details } = error.details
  const suggested = call ?? compose(details, tool, input)
  if (!suggested) return error
  const target = index.exact.get(suggested.tool)?.tool
  const works = target && (await target.check.check(suggested.input)).ok
  return { ...error, details: works ? { ...details, call: suggested } : details }
}

function compose(
  { parameter, suggestion }: Pick<ErrorDetails, 'parameter' | 'suggestion'>,
  tool: Tool,
  input: unknown,
): SuggestedCall | undefined {
  if (parameter === undefined || suggestion === undefined) return undefined
  const path = [...parameter.matchAll(/[^.[\]]+/g)].map(([step]) => (/^\d+$/.test(step) ? Number(step) : step))
  const fixed = withPath(input, path, suggestion)
  return canonical(fixed) === canonical(input) ? undefined : { tool: tool.name, input: fixed as Record<string, unknown> }
}
