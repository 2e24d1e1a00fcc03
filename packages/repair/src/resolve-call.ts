/** Resolves a parsed call to a tool call or an error: name → parse → adapt → coerce → check. */

import { type Malformed, unreadable } from './arguments/parse.ts'
import { isPlain } from './arguments/plain.ts'
import { type CheckResult, type Fitted, fitArguments, settle, type ToCheck } from './arguments/repair-arguments.ts'
import { type Named, type NameIndex, type Resolved, resolveName } from './name.ts'
import type { Repair } from './repair.ts'
import type { JsonSchema } from './schema/types.ts'
import { checkJson, isRecord, type JsonCheck } from './schema/validate.ts'
import { parseJson } from './text.ts'
import type { ToolSpec } from './tool-spec.ts'

/** A call from a reply, reported by a provider or found in the text. Its name and arguments may still need repair. */
export interface ParsedCall {
  /** The provider's id, if it has one. */
  readonly id?: string
  readonly name: string | null | undefined
  /** The arguments, as an object or as text. */
  readonly input: unknown
  /** Repairs made so far: to its markup or to the server's stream. */
  readonly repairs?: readonly Repair[]
  /** The reply was cut off in this call. */
  readonly cutOff?: boolean
  /** Why it is refused regardless of `input`: its markup could not be read. */
  readonly unread?: string
  /** Why the model may not have meant it. A call with an effect then runs only after a person has approved it. */
  readonly doubt?: string
}

/** The result of resolving a call. `repairs` lists those of the call first, then that of its name. */
export type Resolution<Tool extends Named, Check extends CheckResult> = { readonly repairs: readonly Repair[] } & (
  | { readonly kind: 'unknown'; readonly fault: Malformed; readonly nearest: Tool | undefined }
  | ({ readonly tool: Tool } & Fitted<Check>)
)

/**
 * Yields input to check against a tool's schema and receives the result of the check.
 * @param options `refusesCut`: a truncated call is refused even if its text parses
 */
export function* resolving<Tool extends Omit<ToolSpec, 'parameters'>, Check extends CheckResult>(
  call: ParsedCall,
  index: NameIndex<Tool>,
  { schemaOf, refusesCut }: { readonly schemaOf: (tool: Tool) => JsonSchema; readonly refusesCut: (tool: Tool) => boolean },
): Generator<ToCheck<Tool>, Resolution<Tool, Check>, Check> {
  const requested = typeof call.name === 'string' ? call.name : ''
  const before = call.repairs ?? []
  const resolved = resolveName(requested, index)
  if (resolved.kind !== 'tool') {
    const [nearest = ''] = resolved.candidates
    return {
      kind: 'unknown',
      repairs: before,
      fault: unknownTool(requested, resolved, index.names),
      nearest: index.exact.get(nearest)?.tool,
    }
  }
  const { tool, adapt, repair } = resolved
  const named = repair ? [...before, repair] : before
  if (call.unread !== undefined) return { kind: 'malformed', tool, repairs: named, fault: unreadable(String(call.input), call.unread) }
  const cutOff = call.cutOff === true && refusesCut(tool)
  const fitted = yield* fitArguments<Tool, Check>(call.input, tool, schemaOf(tool), cutOff, adapt)
  return { tool, ...fitted, repairs: fitted.kind === 'checked' ? [...named, ...fitted.repairs] : named }
}

const ANY_OBJECT: JsonSchema = { type: 'object' }
const schemaOf = ({ parameters = ANY_OBJECT }: ToolSpec): JsonSchema => parameters

/** Resolves a call against the tools' JSON Schemas. A truncated call is refused. */
export const resolveCall = (call: ParsedCall, index: NameIndex<ToolSpec>): Resolution<ToolSpec, JsonCheck> =>
  settle(resolving<ToolSpec, JsonCheck>(call, index, { schemaOf, refusesCut: () => true }), ({ tool, input }) =>
    checkJson(schemaOf(tool), input),
  )

/** Returns true if a call is certain to be resolved as it is; false means that it is not known. Costs a fraction of {@link resolveCall}. */
export function isPlainCall(name: string, input: string, index: NameIndex<ToolSpec>): boolean {
  const entry = index.exact.get(name)
  const parsed = entry && !entry.alias ? parseJson(input) : undefined
  return entry !== undefined && isRecord(parsed) && isPlain(schemaOf(entry.tool), parsed)
}

function unknownTool(name: string, { kind, candidates }: Exclude<Resolved, { kind: 'tool' }>, names: readonly string[]): Malformed {
  const [nearest] = candidates
  const says = name === '' ? 'The call has no tool name.' : `There is no tool named ${JSON.stringify(name.slice(0, 64))}.`
  const more = kind === 'ambiguous' ? ` It could be ${candidates.join(' or ')}.` : nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return {
    error: says + more,
    details: {
      parameter: 'name',
      value: name.slice(0, 64),
      constraint: `one of these tools: ${names.join(', ')}`,
      ...(nearest !== undefined && { suggestion: nearest, candidates }),
    },
  }
}
