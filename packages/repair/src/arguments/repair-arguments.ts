/** The arguments of one call, from what the model wrote to an object that fits its schema, or to what to tell the model. */
import type { Adapt } from '../name.ts'
import { type Effect, levelFor, type Repair, type RepairLevel } from '../repair.ts'
import { type Issue, pathText } from '../schema/issue.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { issuesText } from '../schema/sentence.ts'
import { validate } from '../schema/validate.ts'
import { coerce } from './coerce.ts'
import { type Malformed, parseInput } from './parse.ts'

export interface RepairOptions {
  /** What the tool does. Default `external`, the most careful. */
  readonly effect?: Effect
  /** Default: `full` for reads, else `safe`. */
  readonly level?: RepairLevel
  /** Other names of parameters: `{ path: ['file', 'filePath'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** The tool's name, against arguments wrapped in a call of another one. */
  readonly name?: string
  /** Turns another agent's shape of input into the tool's, before anything else is mended. */
  readonly adapt?: Adapt
  /** The reply was cut off in this call: nothing of it is believed. Default false. */
  readonly cutOff?: boolean
}

export type RepairedArguments =
  | { readonly ok: true; readonly value: Record<string, unknown>; readonly repairs: readonly Repair[] }
  | ({
      readonly ok: false
      readonly errorType: 'malformed_call' | 'validation'
      /** For the model: what is wrong, and what to send instead. */
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
  const level = options.level ?? levelFor(options.effect)
  const parsed = parseInput(raw, { level, cutOff: options.cutOff ?? false })
  if (!parsed.ok) return { ok: false, errorType: 'malformed_call', ...parsed.fault, repairs: [] }
  const { parameterAliases, name: toolName, adapt } = options
  const given = adapt?.(parsed.input) ?? parsed.input
  const adapted: readonly Repair[] =
    adapt === undefined ? [] : [{ kind: 'adapted', from: parsed.input, to: given, why: "another agent's input in this tool's shape" }]
  const lenient = level === 'full'
  const aliases = parameterAliases && { parameterAliases }
  const named = toolName !== undefined && { toolName }
  const mended = level === 'off' ? { value: given, repairs: [] } : coerce(schema, given, { lenient, ...aliases, ...named })
  const repairs = [...parsed.repairs, ...adapted, ...mended.repairs]
  const issues = validate(schema, mended.value)
  const [first] = issues
  if (!first) return { ok: true, value: mended.value as Record<string, unknown>, repairs }
  if (parsed.unlessFits) return { ok: false, errorType: 'malformed_call', ...parsed.unlessFits, repairs: [] }
  return { ok: false, errorType: 'validation', error: issuesText(issues), details: detailsOf(first), repairs }
}

function detailsOf({ path, value, constraint, suggestion, candidates }: Issue): Malformed['details'] {
  return {
    ...(path.length > 0 && { parameter: pathText(path) }),
    ...(value !== undefined && { value }),
    constraint,
    ...(suggestion !== undefined && { suggestion }),
    ...(candidates && { candidates }),
  }
}
