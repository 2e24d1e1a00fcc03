/**
 * The arguments of one call in the shape of its tool: parse → adapt → coerce → check. The check is the caller's, because a
 * schema may answer at once or later: each yielded input is to be sent back what the check says of it.
 */
import { canonical } from '../canonical.ts'
import type { Adapt } from '../name.ts'
import { levelFor, type Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { checkJson, type JsonCheck } from '../schema/validate.ts'
import type { ToolSpec } from '../tool-spec.ts'
import { coerce } from './coerce.ts'
import { type Malformed, parseInput, unreadable } from './parse.ts'

/** What the check says of an input. */
export interface CheckResult {
  readonly ok: boolean
}

/** An input, and the tool whose schema it is to be checked against. */
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
}

interface Shaped extends Given {
  /** Why it is not to be run with effects. */
  readonly doubt?: string
}

/** A tool as far as its arguments go. Without a name, arguments wrapped in a call are not unwrapped. */
export type FitTool = Omit<ToolSpec, 'name' | 'parameters'> & { readonly name?: string }

/**
 * Under an alias its own adapter comes first. Under the tool's own name the adapters are tried where the input does not fit
 * as it is, or not all of it, because models mix one agent's names with another's parameters.
 * @param raw the text of the arguments, or an object
 * @param cutOff the reply was cut off in this call: it is refused even where the text parses
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
  const shape = ({ input, repairs }: Given): Shaped => {
    if (level === 'off') return { input, repairs }
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
  // What was not JSON is taken only where it fits.
  if (!checked.ok && parsed.unlessFits) return { kind: 'malformed', fault: parsed.unlessFits }
  return { kind: 'checked', checked, input: best.input, repairs: [...parsed.repairs, ...best.repairs] }
}

const dropped = ({ repairs }: Given): number => repairs.filter(({ kind }) => kind === 'unknown_dropped').length

/** Undefined if there is no adapter, or it changes nothing or throws. */
function adapted(adapt: Adapt | undefined, input: Record<string, unknown>, name = 'the tool'): Given | undefined {
  try {
    const shaped = adapt?.(input)
    if (!shaped || canonical(shaped) === canonical(input)) return undefined
    return { input: shaped, repairs: [{ kind: 'adapted', from: input, to: shaped, why: `the input brought to the shape of ${name}` }] }
  } catch {
    return undefined
  }
}

/** Runs it with a check that answers at once. */
export function settle<Asked, Result, Check>(steps: Generator<Asked, Result, Check>, check: (asked: Asked) => Check): Result {
  let step = steps.next()
  while (!step.done) step = steps.next(check(step.value))
  return step.value
}

/** Against a JSON Schema. */
export const fitJson = (raw: unknown, tool: FitTool, schema: JsonSchema, cutOff = false, adapt?: Adapt): Fitted<JsonCheck> =>
  settle(fitArguments<FitTool, JsonCheck>(raw, tool, schema, cutOff, adapt), ({ input }) => checkJson(schema, input))
