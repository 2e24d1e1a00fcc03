/** The arguments of one call, from what the model wrote to an object that fits its schema, or to what to tell the model. */
import type { Adapt } from '../name.ts'
import type { Effect, Repair, RepairLevel } from '../repair.ts'
import { type Issue, pathText } from '../schema/issue.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { issuesText } from '../schema/sentence.ts'
import type { Issues } from '../schema/validate.ts'
import { fitJson } from './fit.ts'
import type { Malformed } from './parse.ts'

export interface RepairOptions {
  /** What the tool does. Default `external`, the most careful. */
  readonly effect?: Effect
  /** Default: `full` for reads, otherwise `safe`. */
  readonly level?: RepairLevel
  /** Other names of parameters: `{ path: ['file', 'filePath'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** The tool's name, against arguments wrapped in a call of another one. */
  readonly name?: string
  /** Turns another agent's shape of input into the tool's, before anything else is repaired. */
  readonly adapt?: Adapt
  /** The reply was cut off in this call: it is refused even where the text parses. Default false. */
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
  const { level, adapt, cutOff, ...tool } = options
  const fitted = fitJson(raw, { ...tool, ...(level && { repair: level }) }, schema, cutOff, adapt)
  if (fitted.kind === 'malformed') return { ok: false, errorType: 'malformed_call', ...fitted.fault, repairs: [] }
  const { input, repairs, checked } = fitted
  return checked.ok ? { ok: true, value: input, repairs } : { ok: false, errorType: 'validation', ...invalid(checked.issues), repairs }
}

/** What to tell the model about an input that does not fit. */
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
