/** Resolves a call or reports its errors: name → parse → adapt → coerce → validate. Has no side effects. */
import {
  type ParsedCall as CallOfReply,
  clonePlain,
  isRecord,
  isTooDeep,
  type NameIndex,
  parseInput,
  type Repair,
  resolving,
} from '@mulligan/repair'
import { type ErrorDetails, notOk, type ToolError } from '../result.ts'
import { fromThrown } from '../run/classify.ts'
import type { Checked } from '../schema/schema.ts'
import type { Tool } from '../tool.ts'
import { CALL_RETRIES, MALFORMED_CALL, UNKNOWN_TOOL } from '../turn/counters.ts'
import { invalidInput } from './hint.ts'

/** A call as the model made it, with its position in the turn. */
export interface ParsedCall extends CallOfReply {
  /** The engine's id: session/turn/step/ordinal. */
  readonly id: string
  /** The model response that contains it; `ordinal` is its position there. */
  readonly step: number
  readonly ordinal: number
  /** The provider's id, unchanged. */
  readonly wireId?: string
}

export interface ResolvedCall {
  readonly tool: Tool | undefined
  /** The canonical input; the original if it could not be parsed. */
  readonly input: unknown
  readonly repairs: readonly Repair[]
  /** The canonical input before the host changed it, if it did. */
  readonly unrefined?: unknown
  /** The value passed to the tool, with defaults and transforms applied. */
  readonly value?: unknown
  readonly refusal?: ToolError
  /** The exception thrown by the tool's own input validation, for the log. */
  readonly thrown?: unknown
  /** The name under which wrong calls of this kind are counted, and how often they may be repeated. */
  readonly counter: { readonly name: string; readonly retries: number }
}

/** @param refine see `ExecutorOptions` */
export async function resolveCall(
  call: ParsedCall,
  index: NameIndex<Tool>,
  refine?: (tool: string) => ((value: unknown) => unknown) | undefined,
): Promise<ResolvedCall> {
  const steps = resolving<Tool, Checked>(call, index, {
    schemaOf: (tool) => tool.check.strict,
    // A truncated read that happens to be complete may run; an effect may not, because servers complete truncated JSON themselves.
    refusesCut: (tool) => tool.effect !== 'read',
  })
  let step = steps.next()
  while (!step.done) {
    const checked = step.value.tool.check.check(step.value.input)
    // Awaiting a value that is already there costs as much as the check itself.
    step = steps.next('then' in checked ? await checked : checked)
  }
  const found = step.value
  const { repairs } = found
  if (found.kind === 'checked') {
    const { tool, input, checked } = found
    const resolved = { tool, input, repairs, counter: tool }
    if (checked.ok) {
      const change = refine?.(tool.name)
      return change ? await refined(resolved, checked.value, change) : { ...resolved, value: checked.value }
    }
    // A rule that throws is the tool's fault: the model cannot fix it, so no retry is used up.
    if ('thrown' in checked) return { ...resolved, refusal: fromThrown(checked.thrown, tool.name), thrown: checked.thrown }
    return { ...resolved, refusal: await invalidInput(tool, input, checked.issues) }
  }
  // Keep unparsable input for the record, unless it cannot be serialized.
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
      ? refused('unknown_tool', UNKNOWN_TOOL, parsed.input, await withCall(details, found.nearest, parsed.input))
      : refused('unknown_tool', UNKNOWN_TOOL, asCame)),
  }
}

/** Applies the host's change to the value. If that throws, the call is refused, because it is not known what would run. */
async function refined(
  resolved: ResolvedCall & { readonly tool: Tool },
  given: unknown,
  change: (value: unknown) => unknown,
): Promise<ResolvedCall> {
  const { tool, input } = resolved
  try {
    const value = await change(clonePlain(given))
    const plain: unknown = JSON.parse(JSON.stringify(value) ?? 'null')
    return { ...resolved, value, input: isRecord(plain) ? plain : {}, unrefined: input }
  } catch (thrown) {
    return { ...resolved, refusal: fromThrown(thrown, tool.name), thrown }
  }
}

/** Adds the suggested call if the input is valid for the suggested tool as is. */
async function withCall(details: ErrorDetails, tool: Tool | undefined, input: Record<string, unknown>): Promise<ErrorDetails> {
  return tool && (await tool.check.check(input)).ok ? { ...details, call: { tool: tool.name, input } } : details
}
