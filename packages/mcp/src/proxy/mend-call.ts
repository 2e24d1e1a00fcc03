/** Decides what is sent for a call: the call as it came, a repaired one, or nothing, with an answer that says what to fix. Pure. */
import { notOk, type ToolError } from '@mulligan/core'
import { type Checked, invalidInput } from '@mulligan/core/executor'
import { type Issue, isRecord, nearest, pathText, type Repair, resolveCall, shown, validateJson, withPath } from '@mulligan/repair'
import type { Catalog, ListedTool } from './catalog.ts'
import type { Params } from './messages.ts'

export type MendedCall =
  | {
      readonly kind: 'send'
      readonly tool: ListedTool | undefined
      /** The parameters to send; the same object if nothing was repaired. */
      readonly params: Params
      readonly repairs: readonly Repair[]
      /** Sentences for the model, which go with the result. */
      readonly notes: readonly string[]
    }
  | { readonly kind: 'refuse'; readonly error: ToolError | Promise<ToolError>; readonly tool: ListedTool | undefined }

export function mendCall(params: Params, { index, get }: Catalog): MendedCall {
  const { name } = params
  const listed = typeof name === 'string' ? get(name) : undefined
  if (listed && !listed.schema) return { kind: 'send', tool: listed, params, repairs: [], notes: [] }
  const given = params['arguments'] ?? {}
  const found = resolveCall({ name: typeof name === 'string' ? name : undefined, input: given }, index)
  if (found.kind === 'unknown')
    return { kind: 'refuse', tool: undefined, error: notOk('unknown_tool', found.fault.error, { details: found.fault.details }) }
  const tool = get(found.tool.name) ?? (found.tool as ListedTool)
  if (found.kind === 'malformed')
    return { kind: 'refuse', tool, error: notOk('malformed_call', found.fault.error, { details: found.fault.details }) }
  const asText: Repair = { kind: 'json', from: given, to: found.input, why: 'the arguments were sent as text' }
  const { input, repairs } = unwrapped(tool, found.input, isRecord(given) || found.repairs.length > 0 ? found.repairs : [asText])
  const issues = validateJson(tool.parameters ?? {}, input)
  const unknown = issues.filter((issue) => issue.unknownKey !== undefined)
  // The server ignores what it does not know, unless its schema says otherwise. Refusing it would cost calls that work today.
  if (unknown.length < issues.length || (issues.length > 0 && validateJson(tool.schema ?? {}, input).length > 0))
    return { kind: 'refuse', tool, error: refusal(tool, input, issues) }
  return {
    kind: 'send',
    tool,
    params: repairs.length === 0 ? params : { ...params, name: tool.name, arguments: input },
    repairs,
    notes: [...notesOf(repairs, tool), ...unknown.map((issue) => unknownNote(issue, tool))],
  }
}

/** Takes the only item out of a list where the schema wants that item. */
function unwrapped(tool: ListedTool, input: Record<string, unknown>, repairs: readonly Repair[]) {
  let fixed: unknown = input
  const made: Repair[] = []
  for (const { path, value } of validateJson(tool.parameters ?? {}, input)) {
    if (!Array.isArray(value) || value.length !== 1) continue
    const parameter = pathText(path)
    const other = withPath(fixed, path, value[0])
    if (validateJson(tool.parameters ?? {}, other).some((issue) => pathText(issue.path) === parameter)) continue
    fixed = other
    made.push({ kind: 'type', parameter, from: value, to: value[0], why: 'a list with one item' })
  }
  return { input: fixed as Record<string, unknown>, repairs: [...repairs, ...made] }
}

const notesOf = (repairs: readonly Repair[], tool: ListedTool): readonly string[] =>
  repairs.map((repair) =>
    repair.kind === 'unknown_dropped' && repair.parameter !== undefined
      ? unknownNote({ unknownKey: repair.parameter }, tool)
      : repairNote(repair),
  )

const repairNote = ({ parameter, from, to, why }: Repair): string =>
  `${parameter === undefined ? 'The call' : `"${parameter}"`} was repaired before it was sent: ${shown(from)} became ${shown(to)} (${why}).`

function unknownNote({ unknownKey = '', meantKey }: Pick<Issue, 'unknownKey' | 'meantKey'>, { name, schema }: ListedTool): string {
  const declared = isRecord(schema?.['properties']) ? Object.keys(schema['properties']) : []
  const meant = meantKey ?? nearest(unknownKey, declared, 1)[0] ?? similar(unknownKey, declared)
  const says = `${name} has no parameter "${unknownKey}", so it had no effect`
  return meant === undefined
    ? `${says}; ${declared.length > 0 ? `it has ${declared.map((one) => `"${one}"`).join(', ')}` : 'it has no parameters'}.`
    : `${says}; did you mean "${meant}"?`
}

/** Names that tools use for the same thing. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['limit', 'max_results', 'maxResults', 'count', 'n', 'top', 'head', 'pageSize', 'page_size', 'size', 'maxLines', 'lines'],
  ['offset', 'skip', 'start', 'from', 'cursor', 'page'],
  ['path', 'file', 'file_path', 'filePath', 'filename', 'filepath', 'uri', 'directory', 'dir', 'folder'],
  ['query', 'q', 'search', 'text', 'pattern', 'term', 'keyword'],
  ['content', 'contents', 'text', 'body', 'data', 'message', 'value'],
]

/** Returns the one declared parameter that tools elsewhere use for the same thing. */
function similar(key: string, declared: readonly string[]): string | undefined {
  const lower = key.toLowerCase()
  const group = SYNONYMS.filter((names) => names.some((one) => one.toLowerCase() === lower)).flat()
  const [only, ...more] = declared.filter((one) => group.includes(one))
  return more.length === 0 ? only : undefined
}

/** The hint for a call that does not fit, with the corrected call if there is one. */
const refusal = (tool: ListedTool, input: Record<string, unknown>, issues: readonly Issue[]): Promise<ToolError> => {
  const { schema = {} } = tool
  const check = (value: unknown): Checked => {
    const found = validateJson(schema, value)
    return found.length === 0 ? { ok: true, value } : { ok: false, issues: found }
  }
  return invalidInput({ name: tool.name, examples: [], check: { check } }, input, issues)
}
