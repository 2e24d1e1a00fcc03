/** Tools as people have them at hand: OpenAI's, Anthropic's and MCP's notations, a bare list, or a whole request. */
import { type Effect, isRecord, type ToolSpec } from '@mulligan/repair'

const EFFECTS = ['read', 'write', 'external'] as const
const LEVELS = ['off', 'safe', 'full'] as const

/** The policy for tools that say nothing of their effect: a reply that somebody looks at here runs nothing. */
export const ASSUMED_EFFECT: Effect = 'read'

/** Names of the tools for which it was assumed. */
export const assumedIn = (value: unknown): readonly string[] =>
  listIn(value)?.flatMap((tool) => {
    const given = isRecord(tool) && isRecord(tool['function']) ? { ...tool, ...tool['function'] } : tool
    return isRecord(given) && given['effect'] === undefined && typeof given['name'] === 'string' ? [given['name']] : []
  }) ?? []

const listIn = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : isRecord(value) && Array.isArray(value['tools']) ? value['tools'] : undefined

/**
 * @param effect of tools that say nothing of it
 * @param value a list of tools, or an object that has one under `tools`
 * @throws TypeError that says which tool is wrong, and how
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

/** A schema without a type is one of an object anyway. */
const objectSchema = (schema: Record<string, unknown>) =>
  'type' in schema || 'anyOf' in schema || 'oneOf' in schema || '$ref' in schema ? schema : { type: 'object', ...schema }

const isOneOf = <Value extends string>(value: unknown, values: readonly Value[]): value is Value =>
  (values as readonly unknown[]).includes(value)
