/** From a call as it was parsed to a call of a tool, or to what is wrong with it: name → parse → adapt → coerce → check. */
import { type CheckResult, type Fitted, fitArguments, settle, type ToCheck } from './arguments/fit.ts'
import { type Malformed, unreadable } from './arguments/parse.ts'
import { type Named, type NameIndex, resolveName } from './name.ts'
import type { Repair } from './repair.ts'
import type { JsonSchema } from './schema/json-schema.ts'
import { checkJson, type JsonCheck } from './schema/validate.ts'
import type { ToolSpec } from './tool-spec.ts'

/** A call out of a reply: as a provider reported it, or out of the text. Its name and arguments may still need repair. */
export interface ParsedCall {
  /** The provider's, where it has one. */
  readonly id?: string
  readonly name: string | null | undefined
  /** An object, or the text of the arguments. */
  readonly input: unknown
  /** What was repaired so far: its markup, the server's stream. */
  readonly repairs?: readonly Repair[]
  /** The reply was cut off in this call. */
  readonly cutOff?: boolean
  /** Why it is refused whatever `input` reads as: it came as markup that could not be read. */
  readonly unread?: string
  /** Why the model may not have meant it. With an effect it is run only after a person has agreed to it. */
  readonly doubt?: string
}

/** What a call comes to. `repairs` begin with those of the call, then its name. */
export type Resolution<Tool extends Named, Check extends CheckResult> = { readonly repairs: readonly Repair[] } & (
  | { readonly kind: 'unknown'; readonly fault: Malformed; readonly nearest: Tool | undefined }
  | ({ readonly tool: Tool } & Fitted<Check>)
)

export interface ResolveOptions<Tool> {
  readonly schemaOf: (tool: Tool) => JsonSchema
  /** A call that was cut off is refused even where its text parses. */
  readonly refusesCut: (tool: Tool) => boolean
}

/** Yields what is to be checked against a tool's schema, and takes back what the check says. */
export function* resolving<Tool extends Omit<ToolSpec, 'parameters'>, Check extends CheckResult>(
  call: ParsedCall,
  index: NameIndex<Tool>,
  { schemaOf, refusesCut }: ResolveOptions<Tool>,
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

/** Resolves a call against the JSON Schemas of the tools. A call that was cut off is refused. */
export const resolveCall = (call: ParsedCall, index: NameIndex<ToolSpec>): Resolution<ToolSpec, JsonCheck> =>
  settle(resolving<ToolSpec, JsonCheck>(call, index, { schemaOf, refusesCut: () => true }), ({ tool, input }) =>
    checkJson(schemaOf(tool), input),
  )

function unknownTool(
  name: string,
  { kind, candidates }: { readonly kind: 'unknown' | 'ambiguous'; readonly candidates: readonly string[] },
  names: readonly string[],
): Malformed {
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
