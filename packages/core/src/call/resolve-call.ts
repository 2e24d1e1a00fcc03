/** Resolves a call, or says what is wrong with it: name → parse → adapt → coerce → validate. Has no side effects. */
import { type ParsedCall as CallOfReply, isTooDeep, type NameIndex, parseInput, type Repair, resolving } from '@mulligan/repair'
import { type ErrorDetails, notOk, type ToolError } from '../result.ts'
import { fromThrown } from '../run/classify.ts'
import type { Checked } from '../schema/schema.ts'
import type { Tool } from '../tool.ts'
import { CALL_RETRIES, MALFORMED_CALL, UNKNOWN_TOOL } from '../turn/counters.ts'
import { invalidInput } from './hint.ts'

/** A call as the model made it, in its place in the turn. */
export interface ParsedCall extends CallOfReply {
  /** The engine's own identity: session/turn/step/ordinal. */
  readonly id: string
  /** The model response it came in, and its place there. */
  readonly step: number
  readonly ordinal: number
  /** The provider's id, as it came. */
  readonly wireId?: string
}

export interface ResolvedCall {
  readonly tool: Tool | undefined
  /** The canonical input; what came, when it could not be read. */
  readonly input: unknown
  readonly repairs: readonly Repair[]
  /** The value the tool gets: defaults and transforms applied. */
  readonly value?: unknown
  readonly refusal?: ToolError
  /** What the tool's own check of its input threw: for the log. */
  readonly thrown?: unknown
  /** Under which name a wrong call of this kind is counted, and how often it may be repeated. */
  readonly counter: { readonly name: string; readonly retries: number }
}

export async function resolveCall(call: ParsedCall, index: NameIndex<Tool>): Promise<ResolvedCall> {
  const steps = resolving<Tool, Checked>(call, index, {
    schemaOf: (tool) => tool.check.strict,
    // A read that happens to be whole may run; an effect may not, because servers complete cut JSON by themselves.
    refusesCut: (tool) => tool.effect !== 'read',
  })
  let step = steps.next()
  while (!step.done) step = steps.next(await step.value.tool.check.check(step.value.input))
  const found = step.value
  const { repairs } = found
  if (found.kind === 'checked') {
    const { tool, input, checked } = found
    const resolved = { tool, input, repairs, counter: tool }
    if (checked.ok) return { ...resolved, value: checked.value }
    // A rule that throws is the tool's fault: the model cannot fix it, and no retry is spent.
    if ('thrown' in checked) return { ...resolved, refusal: fromThrown(checked.thrown, tool.name), thrown: checked.thrown }
    return { ...resolved, refusal: await invalidInput(tool, input, checked.issues) }
  }
  // What could not be read is kept for the record, unless it cannot be serialized.
  const asCame = isTooDeep(call.input) ? '(nested too deep)' : call.input
  const { error, details } = found.fault
  const refused = (errorType: 'unknown_tool' | 'malformed_call', name: string, input: unknown, more: ErrorDetails = details) => ({
    input,
    repairs,
    refusal: notOk(errorType, error, { details: more }),
    counter: { name, retries: CALL_RETRIES },
  })
  if (found.kind === 'malformed') return { tool: found.tool, ...refused('malformed_call', MALFORMED_CALL, asCame) }
  const parsed = parseInput(call.input)
  return {
    tool: undefined,
    ...(parsed.ok
      ? refused('unknown_tool', UNKNOWN_TOOL, parsed.input, withCall(details, found.nearest, parsed.input))
      : refused('unknown_tool', UNKNOWN_TOOL, asCame)),
  }
}

/** The suggested call, when the input fits the suggested tool as it stands. */
function withCall(details: ErrorDetails, tool: Tool | undefined, input: Record<string, unknown>): ErrorDetails {
  const checked = tool?.check.check(input)
  return tool && checked && 'ok' in checked && checked.ok ? { ...details, call: { tool: tool.name, input } } : details
}
