/** Decides what is sent for a call: the call as it came, a repaired one, or nothing, with an answer that says what to fix. Pure. */
import { notOk, type ToolError } from '@mulligan/core'
import { type Checked, invalidInput } from '@mulligan/core/executor'
import { type Issue, isRecord, type Repair, resolveCall, shown, validateJson } from '@mulligan/repair'
import type { Catalog, ListedTool } from './catalog.ts'
import { formatHints, mendedArguments } from './mend-arguments.ts'
import type { Params } from './messages.ts'
import { unknownNote, withMeant } from './unknown-keys.ts'

export type MendedCall =
  | {
      readonly kind: 'send'
      readonly tool: ListedTool | undefined
      /** The parameters to send; the same object if nothing was repaired. */
      readonly params: Params
      readonly repairs: readonly Repair[]
      /** Sentences for the model, which go with the result. */
      readonly notes: readonly string[]
      /** Sentences that help only if the server refuses the call. */
      readonly hints?: readonly string[]
    }
  | { readonly kind: 'refuse'; readonly error: ToolError | Promise<ToolError>; readonly tool: ListedTool | undefined }

export function mendCall(params: Params, { index, get }: Catalog): MendedCall {
  const { name } = params
  const listed = typeof name === 'string' ? get(name) : undefined
  if (listed && !listed.schema) return { kind: 'send', tool: listed, params, repairs: [], notes: [] }
  const given = withoutNothing(params['arguments'])
  const called = typeof name === 'string' ? withoutServer(name, get) : undefined
  const found = resolveCall({ name: called, input: given }, index)
  if (found.kind === 'unknown')
    return {
      kind: 'refuse',
      tool: undefined,
      error: unknownTool(found.fault, index),
    }
  const tool = get(found.tool.name) ?? (found.tool as ListedTool)
  if (found.kind === 'malformed')
    return { kind: 'refuse', tool, error: notOk('malformed_call', found.fault.error, { details: found.fault.details }) }
  const asText: Repair = { kind: 'json', from: given, to: found.input, why: 'the arguments were sent as text' }
  const before = isRecord(given) || found.repairs.length > 0 ? found.repairs : [asText]
  const { input, repairs } = mendedArguments(tool, found.input, [...renamed(name, called), ...before, ...nothing(params['arguments'])])
  const issues = validateJson(tool.parameters ?? {}, input)
  const unknown = issues.filter((issue) => issue.unknownKey !== undefined)
  // The server ignores what it does not know, unless its schema says otherwise. Refusing it would cost calls that work today.
  if (unknown.length < issues.length || (issues.length > 0 && validateJson(tool.schema ?? {}, input).length > 0))
    return { kind: 'refuse', tool, error: refusal(tool, input, withMeant(issues, input, tool)) }
  return {
    kind: 'send',
    tool,
    params: repairs.length === 0 ? params : { ...params, name: tool.name, arguments: input },
    repairs,
    notes: [...notesOf(repairs, tool, input), ...unknown.map((issue) => unknownNote(issue, tool, input))],
    hints: formatHints(tool.schema, input),
  }
}

/** No arguments, as languages write them that have one literal for an empty list and an empty object. */
const isNothing = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0)
const withoutNothing = (value: unknown): unknown => (isNothing(value) ? {} : (value ?? {}))
const nothing = (value: unknown): readonly Repair[] =>
  isNothing(value) ? [{ kind: 'json', from: value, to: {}, why: 'no arguments are an empty object' }] : []

/** The name after a prefix with which clients tell servers apart, if only that is a tool. */
function withoutServer(name: string, get: Catalog['get']): string {
  const [, rest = ''] = /^.*?(?:__|[:/.])(.+)$/.exec(name.replace(/^mcp__/, '')) ?? []
  return get(name) === undefined && get(rest) !== undefined ? rest : name
}

const renamed = (name: unknown, called: string | undefined): readonly Repair[] =>
  called === undefined || called === name ? [] : [{ kind: 'name', from: name, to: called, why: 'without the name of a server' }]

/** Names in an answer about an unknown tool. */
const MAX_NAMES = 40

function unknownTool({ error, details: { candidates, suggestion } }: ToolFault, { names }: Catalog['index']): ToolError {
  const tools = `The tools are ${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}.`
  const details = { parameter: 'name', ...(suggestion !== undefined && { suggestion }), ...(candidates && { candidates }) }
  return notOk('unknown_tool', `${error}\n${tools}`, { details })
}

interface ToolFault {
  readonly error: string
  readonly details: { readonly candidates?: readonly unknown[]; readonly suggestion?: unknown }
}

const notesOf = (repairs: readonly Repair[], tool: ListedTool, input: unknown): readonly string[] =>
  repairs.map((repair) =>
    repair.kind === 'unknown_dropped' && repair.parameter !== undefined
      ? unknownNote({ unknownKey: repair.parameter }, tool, input)
      : repairNote(repair),
  )

const repairNote = ({ parameter, from, to, why }: Repair): string =>
  `${parameter === undefined ? 'The call' : `"${parameter}"`} was repaired before it was sent: ${shown(from)} became ${shown(to)} (${why}).`

/** The hint for a call that does not fit, with the corrected call if there is one. */
const refusal = (tool: ListedTool, input: Record<string, unknown>, issues: readonly Issue[]): Promise<ToolError> => {
  const { schema = {} } = tool
  const check = (value: unknown): Checked => {
    const found = validateJson(schema, value)
    return found.length === 0 ? { ok: true, value } : { ok: false, issues: found }
  }
  return invalidInput({ name: tool.name, examples: [], check: { check } }, input, issues)
}
