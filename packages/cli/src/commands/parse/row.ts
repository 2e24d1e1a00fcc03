/** Reads one reply or call of a model as the engine does, with tools in the format of OpenAI, Anthropic or MCP. */
import { announcements, type Effect, isRecord, type ParsedReply, parseToolCalls, readCall, type ToolSpec } from '@mulligan/repair'

/** The result of parsing a row. */
export type ParsedRow = ReturnType<typeof toRow>

export interface Assumed {
  readonly effect: Effect
  readonly tools: readonly string[]
}

/** Returns undefined if every tool declares its effect. */
export function assumedOf(tools: unknown, effect: Effect = ASSUMED_EFFECT): Assumed | undefined {
  const names = assumedIn(tools)
  return names.length === 0 ? undefined : { effect, tools: names }
}

/**
 * @param line JSON, either `{ id, raw, tools, families?, finishReason?, opensInReasoning? }` or
 *   `{ id, call: { name, arguments }, tools, finishReason? }`
 * @throws TypeError for a line that is neither
 */
export function parseRow(line: string): ParsedRow {
  const row: unknown = parseLine(line)
  if (!isRecord(row)) throw new TypeError('a row must be an object')
  const { id, raw, call, finishReason } = row
  const tools = toolsOf(row['tools'] ?? [])
  const assumed = assumedOf(row['tools'])
  const families = Array.isArray(row['families']) ? row['families'].map(String) : undefined
  const options = {
    families,
    announcements,
    ...(typeof finishReason === 'string' && { finishReason }),
    opensInReasoning: row['opensInReasoning'] === true,
  }
  if (typeof raw === 'string') return toRow(id, parseToolCalls(raw, tools, options), assumed)
  if (!isRecord(call)) throw new TypeError('a row must have "raw", a text, or "call", an object with "name" and "arguments"')
  const name = typeof call['name'] === 'string' ? call['name'] : null
  return toRow(id, readCall({ name, arguments: call['arguments'] }, tools, options), assumed)
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new TypeError(`no JSON: ${(error as Error).message}`)
  }
}

/** Returns the result for a line that is not a valid row. */
export function noRow(line: string, error: string) {
  let id: unknown = null
  try {
    id = (JSON.parse(line) as { readonly id?: unknown }).id ?? null
  } catch {
    // No id can be read.
  }
  return { id, calls: [], text: '', notes: [], refused: { errorType: 'config', error, details: {} } }
}

export function toRow(id: unknown, { calls, text, refused, quoted }: ParsedReply, assumed?: Assumed) {
  const [first] = refused
  return {
    id,
    calls: calls.map(({ name, arguments: input }) => ({ name, arguments: input })),
    text,
    /** Each repair, with the index of its call in `calls`. */
    notes: calls.flatMap(({ repairs }, call) => repairs.map((repair) => ({ call, ...repair }))),
    /** The first refused call, and the error that the model receives. */
    ...(first && { refused: { errorType: first.errorType, error: first.error, details: first.details } }),
    ...(quoted.length > 0 && { quoted }),
    ...(assumed && { assumed }),
  }
}

const EFFECTS = ['read', 'write', 'external'] as const
const LEVELS = ['off', 'safe', 'full'] as const

/** The effect assumed for tools that do not declare one. This command only inspects replies and runs nothing. */
export const ASSUMED_EFFECT: Effect = 'read'

/** Returns the names of the tools whose effect was assumed. */
const assumedIn = (value: unknown): readonly string[] =>
  listIn(value)?.flatMap((tool) => {
    const given = isRecord(tool) && isRecord(tool['function']) ? { ...tool, ...tool['function'] } : tool
    return isRecord(given) && given['effect'] === undefined && typeof given['name'] === 'string' ? [given['name']] : []
  }) ?? []

const listIn = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : isRecord(value) && Array.isArray(value['tools']) ? value['tools'] : undefined

/**
 * @param effect the effect of tools that do not declare one
 * @param value a list of tools, or an object that has one under `tools`
 * @throws TypeError that says which tool is invalid, and why
 */
export function toolsOf(value: unknown, effect: Effect = ASSUMED_EFFECT): readonly ToolSpec[] {
  const list = listIn(value)
  if (!list) throw new TypeError('the tools must be a list, or an object with a list under "tools"')
  const tools = list.map((tool, at) => toolOf(tool, at, effect))
  const twice = tools.find(({ name }, at) => tools.findIndex((one) => one.name === name) < at)
  if (twice) throw new TypeError(`two tools are named ${JSON.stringify(twice.name)}`)
  return tools
}

function toolOf(given: unknown, at: number, assumed: Effect): ToolSpec {
  const which = `tool ${at + 1}`
  if (!isRecord(given)) throw new TypeError(`${which} is not an object`)
  const tool = isRecord(given['function']) ? { ...given, ...given['function'] } : given
  const { name, effect = assumed, repair, parameterAliases } = tool as Record<string, unknown>
  if (typeof name !== 'string' || name === '') throw new TypeError(`${which} has no name`)
  const parameters = tool['parameters'] ?? tool['input_schema'] ?? tool['inputSchema']
  if (parameters !== undefined && parameters !== null && !isRecord(parameters))
    throw new TypeError(`the parameters of ${name} are not JSON Schema`)
  if (!isOneOf(effect, EFFECTS)) throw new TypeError(`the effect of ${name} must be ${EFFECTS.join(', ')}`)
  if (repair !== undefined && !isOneOf(repair, LEVELS)) throw new TypeError(`repair of ${name} must be ${LEVELS.join(', ')}`)
  return {
    name,
    effect,
    ...(isRecord(parameters) && { parameters: objectSchema(parameters) }),
    ...(repair !== undefined && { repair }),
    ...(isRecord(parameterAliases) && { parameterAliases: parameterAliases as Record<string, readonly string[]> }),
  }
}

/** Adds the type `object` to a schema without a type. */
const objectSchema = (schema: Record<string, unknown>) =>
  'type' in schema || 'anyOf' in schema || 'oneOf' in schema || '$ref' in schema ? schema : { type: 'object', ...schema }

const isOneOf = <Value extends string>(value: unknown, values: readonly Value[]): value is Value =>
  (values as readonly unknown[]).includes(value)
