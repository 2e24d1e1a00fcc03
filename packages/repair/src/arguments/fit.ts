/**
 * The arguments of one call in the shape of its tool: parse → adapt → coerce → check. The check is the caller's, because a
 * schema may answer at once or later: each yielded input is to be sent back what the check says of it.
 */
import { canonical } from '../canonical.ts'
import type { Adapt } from '../name.ts'
import { levelFor, type Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { ToolSpec } from '../tool-spec.ts'
import { coerce } from './coerce.ts'
import { type Malformed, parseInput } from './parse.ts'

/** What the check says of an input. */
export interface CheckResult {
  readonly ok: boolean
}

export type Fitted<Check extends CheckResult> =
  /** The text could not be read. */
  { readonly kind: 'malformed'; readonly fault: Malformed } | ({ readonly kind: 'checked' } & Candidate<Check>)

interface Candidate<Check extends CheckResult> {
  readonly input: Record<string, unknown>
  readonly repairs: readonly Repair[]
  readonly checked: Check
}

export interface FitOptions {
  /** The tool was called by an alias with an adapter. */
  readonly adapt?: Adapt | undefined
  /** The reply was cut off in this call: it is refused even where the text parses. */
  readonly cutOff: boolean
}

/** A tool as far as its arguments go. Without a name, arguments wrapped in a call are not unwrapped. */
export type FitTool = Omit<ToolSpec, 'name' | 'parameters'> & { readonly name?: string | undefined }

type Given = Omit<Candidate<CheckResult>, 'checked'>

/**
 * Under an alias its own adapter comes first. Under the tool's own name the adapters are tried where the input does not fit
 * as it is, or not all of it, because models mix one agent's names with another's parameters.
 * @param raw the text of the arguments, or an object
 */
export function* fitArguments<Check extends CheckResult>(
  raw: unknown,
  tool: FitTool,
  schema: JsonSchema,
  { adapt, cutOff }: FitOptions,
): Generator<Record<string, unknown>, Fitted<Check>, Check> {
  const { name, aliases = [], parameterAliases = {}, ignoredParameters = [], repair: level = levelFor(tool.effect) } = tool
  const parsed = parseInput(raw, { cutOff, level })
  if (!parsed.ok) return { kind: 'malformed', fault: parsed.fault }

  function* attempt({ input, repairs }: Given): Generator<Record<string, unknown>, Candidate<Check>, Check> {
    if (level === 'off') return { input, repairs, checked: yield input }
    const named = name !== undefined && { toolName: name }
    const coerced = coerce(schema, input, { parameterAliases, ignoredParameters, lenient: level === 'full', ...named })
    const value = coerced.value as Record<string, unknown>
    return { input: value, repairs: [...repairs, ...coerced.repairs], checked: yield value }
  }

  const asGiven: Given = { input: parsed.input, repairs: [] }
  let best = yield* attempt((adapt && adapted(adapt, parsed.input, name)) ?? asGiven)
  for (const alias of adapt || (best.checked.ok && dropped(best) === 0) ? [] : aliases) {
    const other = typeof alias === 'string' ? undefined : alias.adapt
    const given = other && adapted(other, parsed.input, name)
    const next = given && (yield* attempt(given))
    if (!next?.checked.ok || (best.checked.ok && dropped(next) >= dropped(best))) continue
    best = next
    break
  }
  // What was not JSON is taken only where it fits.
  if (!best.checked.ok && parsed.unlessFits) return { kind: 'malformed', fault: parsed.unlessFits }
  return { kind: 'checked', ...best, repairs: [...parsed.repairs, ...best.repairs] }
}

const dropped = ({ repairs }: Given): number => repairs.filter(({ kind }) => kind === 'unknown_dropped').length

/** Undefined where the adapter changes nothing, or throws. */
function adapted(adapt: Adapt, input: Record<string, unknown>, name = 'the tool'): Given | undefined {
  try {
    const shaped = adapt(input)
    if (canonical(shaped) === canonical(input)) return undefined
    return { input: shaped, repairs: [{ kind: 'adapted', from: input, to: shaped, why: `the input brought to the shape of ${name}` }] }
  } catch {
    return undefined
  }
}

/** Runs it with a check that answers at once. */
export function settle<Input, Result, Check>(steps: Generator<Input, Result, Check>, check: (input: Input) => Check): Result {
  let step = steps.next()
  while (!step.done) step = steps.next(check(step.value))
  return step.value
}
