/** Turns the arguments of one call into an object that fits the schema, or into an error for the model. */

import { canonical } from '../canonical.ts'
import type { Adapt } from '../name.ts'
import { type Effect, levelFor, type Repair, type RepairLevel } from '../repair.ts'
import { type Issue, issuesText, pathText } from '../schema/issue.ts'
import type { JsonSchema } from '../schema/types.ts'
import { checkJson, type Issues, type JsonCheck } from '../schema/validate.ts'
import type { ToolSpec } from '../tool-spec.ts'
import { coerce } from './coerce.ts'
import { type Malformed, parseInput, unreadable } from './parse.ts'
import { isPlain } from './plain.ts'

export interface RepairOptions {
  /** Effect of the tool. Default `external`, the most careful. */
  readonly effect?: Effect
  /** Default: `full` for reads, otherwise `safe`. */
  readonly level?: RepairLevel
  /** Other names of parameters: `{ path: ['file', 'filePath'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** The tool's name, used to detect arguments wrapped in a call of another tool. */
  readonly name?: string
  /** Converts another agent's input shape into the tool's, before any other repair. */
  readonly adapt?: Adapt
  /** The reply was cut off in this call, which is refused even if the text parses. Default false. */
  readonly cutOff?: boolean
}

export type RepairedArguments =
  | { readonly ok: true; readonly value: Record<string, unknown>; readonly repairs: readonly Repair[] }
  | ({
      readonly ok: false
      readonly errorType: 'malformed_call' | 'validation'
      /** Message for the model: what is wrong and what to send instead. */
      readonly error: string
      readonly repairs: readonly Repair[]
    } & Pick<Malformed, 'details'>)

/**
 * @param raw the text of the arguments, or an object
 * @param schema JSON Schema of the tool's input
 * @example
 * repairArguments('{"path": "a.ts", "limit": "5",}', {
 *   type: 'object', properties: { path: { type: 'string' }, limit: { type: 'integer' } }, required: ['path'],
 * }, { effect: 'read' })
 * // { ok: true, value: { path: 'a.ts', limit: 5 }, repairs: [{ kind: 'json', … }, { kind: 'type', parameter: 'limit', … }] }
 */
export function repairArguments(raw: unknown, schema: JsonSchema, options: RepairOptions = {}): RepairedArguments {
  const { level, adapt, cutOff, ...tool } = options
  const fitted = fitJson(raw, { ...tool, ...(level && { repair: level }) }, schema, cutOff, adapt)
  if (fitted.kind === 'malformed') return { ok: false, errorType: 'malformed_call', ...fitted.fault, repairs: [] }
  const { input, repairs, checked } = fitted
  return checked.ok ? { ok: true, value: input, repairs } : { ok: false, errorType: 'validation', ...invalid(checked.issues), repairs }
}

/** Builds the error for the model about an input that does not fit. */
export const invalid = (issues: Issues): Malformed => ({ error: issuesText(issues), details: detailsOf(issues[0]) })

function detailsOf({ path, value, constraint, suggestion, candidates }: Issue): Malformed['details'] {
  return {
    ...(path.length > 0 && { parameter: pathText(path) }),
    ...(value !== undefined && { value }),
    constraint,
    ...(suggestion !== undefined && { suggestion }),
    ...(candidates && { candidates }),
  }
}

/** Result of checking an input. */
export interface CheckResult {
  readonly ok: boolean
}

/** An input and the tool whose schema it must be checked against. */
export interface ToCheck<Tool> {
  readonly tool: Tool
  readonly input: Record<string, unknown>
}

export type Fitted<Check extends CheckResult> =
  /** The text could not be read. */
  { readonly kind: 'malformed'; readonly fault: Malformed } | ({ readonly kind: 'checked'; readonly checked: Check } & Given)

interface Given {
  readonly input: Record<string, unknown>
  readonly repairs: readonly Repair[]
  /** Why the call must not be run if it has effects. */
  readonly doubt?: string
}

/** The properties of a tool that matter for its arguments. Without a name, arguments wrapped in a call are not unwrapped. */
export type FitTool = Omit<ToolSpec, 'name' | 'parameters'> & { readonly name?: string }

/**
 * Repairs and checks arguments. If the tool was called by an alias, the alias's adapter runs first. Under the tool's own name, the
 * adapters are tried if the input does not fit completely, because models mix one agent's names with another's parameters.
 * @param raw the text of the arguments, or an object
 * @param cutOff the reply was cut off in this call, which is refused even if the text parses
 * @param adapt the tool was called by an alias with this adapter
 */
export function* fitArguments<Tool extends FitTool, Check extends CheckResult>(
  raw: unknown,
  tool: Tool,
  schema: JsonSchema,
  cutOff: boolean,
  adapt?: Adapt,
): Generator<ToCheck<Tool>, Fitted<Check>, Check> {
  const { name: toolName, aliases = [], parameterAliases, ignoredParameters, repair: level = levelFor(tool.effect) } = tool
  const parsed = parseInput(raw, { cutOff, level })
  if (!parsed.ok) return { kind: 'malformed', fault: parsed.fault }
  const shape = ({ input, repairs }: Given): Given => {
    if (level === 'off' || isPlain(schema, input)) return { input, repairs }
    const coerced = coerce(schema, input, { parameterAliases, ignoredParameters, lenient: level === 'full', toolName })
    const { value, doubt } = coerced
    return { input: value as Record<string, unknown>, repairs: [...repairs, ...coerced.repairs], ...(doubt !== undefined && { doubt }) }
  }

  let best = shape(adapted(adapt, parsed.input, toolName) ?? { input: parsed.input, repairs: [] })
  let checked = yield { tool, input: best.input }
  for (const alias of adapt || (checked.ok && dropped(best) === 0) ? [] : aliases) {
    const given = typeof alias !== 'string' && adapted(alias.adapt, parsed.input, toolName)
    if (!given) continue
    const other = shape(given)
    const otherChecked = yield { tool, input: other.input }
    if (!otherChecked.ok || (checked.ok && dropped(other) >= dropped(best))) continue
    best = other
    checked = otherChecked
    break
  }
  if (best.doubt !== undefined) return { kind: 'malformed', fault: unreadable(canonical(parsed.input), best.doubt) }
  // Repaired JSON is accepted only if it fits.
  if (!checked.ok && parsed.unlessFits) return { kind: 'malformed', fault: parsed.unlessFits }
  return { kind: 'checked', checked, input: best.input, repairs: [...parsed.repairs, ...best.repairs] }
}

const dropped = ({ repairs }: Given): number => repairs.filter(({ kind }) => kind === 'unknown_dropped').length

/** Applies the adapter. Returns undefined if there is none, or if it changes nothing or throws. */
function adapted(adapt: Adapt | undefined, input: Record<string, unknown>, name = 'the tool'): Given | undefined {
  try {
    const shaped = adapt?.(input)
    if (!shaped || canonical(shaped) === canonical(input)) return undefined
    return { input: shaped, repairs: [{ kind: 'adapted', from: input, to: shaped, why: `the input brought to the shape of ${name}` }] }
  } catch {
    return undefined
  }
}

/** Runs the generator with a synchronous check. */
export function settle<Asked, Result, Check>(steps: Generator<Asked, Result, Check>, check: (asked: Asked) => Check): Result {
  let step = steps.next()
  while (!step.done) step = steps.next(check(step.value))
  return step.value
}

/** Fits arguments to a JSON Schema. */
export const fitJson = (raw: unknown, tool: FitTool, schema: JsonSchema, cutOff = false, adapt?: Adapt): Fitted<JsonCheck> =>
  settle(fitArguments<FitTool, JsonCheck>(raw, tool, schema, cutOff, adapt), ({ input }) => checkJson(schema, input))
