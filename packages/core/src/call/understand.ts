/** From a call as it came to a call that can run, or to what is wrong with it: name → parse → coerce → validate. Changes nothing. */
import {
  type Adapt,
  canonical,
  coerce,
  isTooDeep,
  type Malformed,
  type NameIndex,
  parseInput,
  type Repair,
  type Resolved,
  resolveName,
  unreadable,
  withPath,
} from '@mulligan/repair'
import { type ErrorDetails, notOk, type SuggestedCall, type ToolError } from '../result.ts'
import { fromThrown } from '../run/classify.ts'
import type { Checked } from '../schema/schema.ts'
import type { Tool } from '../tool.ts'
import { CALL_RETRIES, MALFORMED_CALL, UNKNOWN_TOOL } from '../turn/counters.ts'
import { invalidInput } from './hint.ts'

/** A call as the model made it. */
export interface IncomingCall {
  /** The engine's own identity: session/turn/step/ordinal. */
  readonly id: string
  /** The model response it came in, and its place there. */
  readonly step: number
  readonly ordinal: number
  /** The provider's id, as it came. */
  readonly wireId?: string
  readonly name: string | null | undefined
  /** An object, or the raw text of the arguments. */
  readonly input: unknown
  /** The response was cut off and this is its last call. */
  readonly cutOff?: boolean
  /** Why it is refused, whatever `input` reads as: it came as markup that nobody could read. */
  readonly unread?: string
  /** What was mended before it came here: its markup, the server's stream. */
  readonly repairs?: readonly Repair[]
}

export interface Understood {
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

export async function understand(call: IncomingCall, index: NameIndex<Tool>): Promise<Understood> {
  const understood = await read(call, index)
  return call.repairs?.length ? { ...understood, repairs: [...call.repairs, ...understood.repairs] } : understood
}

async function read(call: IncomingCall, index: NameIndex<Tool>): Promise<Understood> {
  const requested = typeof call.name === 'string' ? call.name : ''
  const resolved = resolveName(requested, index)
  if (resolved.kind !== 'tool') return unknown(call, requested, resolved, index)
  const { tool, adapt } = resolved
  const named: Repair[] = resolved.repair ? [resolved.repair] : []
  if (call.unread !== undefined) return malformed(call, tool, named, unreadable(String(call.input), call.unread))
  // A read that came whole by luck may run; an effect may not, because servers complete cut JSON by themselves.
  const parsed = parseInput(call.input, { cutOff: call.cutOff === true && tool.effect !== 'read', level: tool.repair })
  if (!parsed.ok) return malformed(call, tool, named, parsed.fault)
  const counter = { name: tool.name, retries: tool.retries }
  const { input, checked, repairs: fitted } = await fit(tool, parsed.input, adapt)
  const repairs = [...named, ...parsed.repairs, ...fitted]
  if (checked.ok) return { tool, input, repairs, value: checked.value, counter }
  const { issues, thrown } = checked
  if (parsed.unlessFits) return malformed(call, tool, named, parsed.unlessFits)
  // A rule that throws is the tool's fault: the model cannot mend it, and no retry is spent.
  if ('thrown' in checked) return { tool, input, repairs, refusal: fromThrown(thrown, tool.name), thrown, counter }
  return { tool, input, repairs, refusal: await invalidInput(tool, input, issues), counter }
}

const malformed = (call: IncomingCall, tool: Tool, repairs: readonly Repair[], { error, details }: Malformed): Understood => ({
  tool,
  input: asCame(call.input),
  repairs,
  refusal: notOk('malformed_call', error, { details }),
  counter: { name: MALFORMED_CALL, retries: CALL_RETRIES },
})

interface Fit {
  readonly input: Record<string, unknown>
  readonly repairs: readonly Repair[]
  readonly checked: Checked
}

/**
 * The input in the tool's shape. Under an alias its own adapter comes first; under the tool's own name the adapters are
 * tried where the input does not fit as it is, or not all of it, because models mix one agent's names with another's parameters.
 */
async function fit(tool: Tool, input: Record<string, unknown>, adapt: Adapt | undefined): Promise<Fit> {
  const first = await mend(tool, adapt ? adaptInput(adapt, input, tool.name) : { input, repairs: [] })
  if (adapt || (first.checked.ok && dropped(first) === 0)) return first
  for (const { adapt: other } of tool.aliases) {
    if (!other) continue
    const adapted = adaptInput(other, input, tool.name)
    if (adapted.repairs.length === 0) continue
    const second = await mend(tool, adapted)
    if (second.checked.ok && (!first.checked.ok || dropped(second) < dropped(first))) return second
  }
  return first
}

const dropped = ({ repairs }: Fit): number => repairs.filter(({ kind }) => kind === 'unknown_dropped').length

async function mend(tool: Tool, given: Omit<Fit, 'checked'>): Promise<Fit> {
  if (tool.repair === 'off') return { ...given, checked: await tool.check.check(given.input) }
  const { parameterAliases, ignoredParameters, name } = tool
  const repaired = coerce(tool.check.strict, given.input, {
    parameterAliases,
    ignoredParameters,
    lenient: tool.repair === 'full',
    toolName: name,
  })
  const input = repaired.value as Record<string, unknown>
  return { input, repairs: [...given.repairs, ...repaired.repairs], checked: await tool.check.check(input) }
}

function unknown(
  call: IncomingCall,
  requested: string,
  resolved: Exclude<Resolved<Tool>, { kind: 'tool' }>,
  index: NameIndex<Tool>,
): Understood {
  const { candidates } = resolved
  const [nearest] = candidates
  const tool = nearest === undefined ? undefined : index.exact.get(nearest)?.tool
  const parsed = parseInput(call.input)
  const details: ErrorDetails = {
    parameter: 'name',
    value: requested.slice(0, 64),
    constraint: `one of these tools: ${index.names.join(', ')}`,
    ...(nearest !== undefined && { suggestion: nearest, candidates }),
  }
  const says = requested === '' ? 'The call has no tool name.' : `There is no tool named ${JSON.stringify(requested.slice(0, 64))}.`
  const more =
    resolved.kind === 'ambiguous' ? ` It could be ${candidates.join(' or ')}.` : nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return {
    tool: undefined,
    input: parsed.ok ? parsed.input : asCame(call.input),
    repairs: [],
    refusal: notOk('unknown_tool', says + more, { details: withCall(details, tool, parsed.ok ? parsed.input : undefined) }),
    counter: { name: UNKNOWN_TOOL, retries: CALL_RETRIES },
  }
}

/** What could not be read, for the record; a value that nobody could write down is left out. */
const asCame = (input: unknown): unknown => (isTooDeep(input) ? '(nested too deep)' : input)

/** The suggested call, when the input fits the suggested tool as it stands. */
function withCall(details: ErrorDetails, tool: Tool | undefined, input: Record<string, unknown> | undefined): ErrorDetails {
  if (!tool || !input) return details
  const checked = tool.check.check(input)
  return 'ok' in checked && checked.ok ? { ...details, call: { tool: tool.name, input } } : details
}

function adaptInput(adapt: Adapt, input: Record<string, unknown>, name: string): Omit<Fit, 'checked'> {
  try {
    const adapted = adapt(input)
    if (canonical(adapted) === canonical(input)) return { input, repairs: [] }
    return { input: adapted, repairs: [{ kind: 'adapted', from: input, to: adapted, why: `the input brought to the shape of ${name}` }] }
  } catch {
    return { input, repairs: [] }
  }
}

/**
 * A failure whose hint names the call to issue instead: composed of `parameter` and `suggestion` where the tool gave none,
 * and left out unless it would validate. So a suggested call is never a wrong one.
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
