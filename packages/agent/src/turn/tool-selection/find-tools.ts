/** Defines `find_tools`, which lets a model find the tools that are not in every request. */
import { type CallRecord, defineTool, empty, ok, type Tool } from '@mulligan/core'
import { searchTools } from './search.ts'

export const FIND_TOOLS = 'find_tools'

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 10
/** Maximum characters of the names in the description: enough to show the model what to look for. */
const MAX_NAMES = 240
const MAX_LINE = 160

export interface FoundData {
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

/**
 * @param tools all tools the model may call
 * @param hidden those that are not in every request
 */
export function findTools(tools: readonly Tool[], hidden: readonly Tool[]): Tool {
  return defineTool<{ readonly query: string; readonly limit?: number }, unknown>({
    name: FIND_TOOLS,
    description: `Finds more tools by what they do; then call them. There are: ${namesOf(hidden)}.`,
    effect: 'read',
    readsWorkspace: false,
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: 'what to do, in a few words' },
        limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, description: 'tools' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    timeout: 10,
    aliases: ['search_tools', 'tool_search', 'find_tool', 'list_tools'],
    parameterAliases: { query: ['q', 'search', 'task', 'keywords', 'text', 'name'], limit: ['max_results', 'count'] },
    target: ({ query }) => query,
    examples: [
      { outcome: 'ok', input: { query: tools[0]?.name ?? FIND_TOOLS } },
      { outcome: 'empty', input: { query: 'xyzzy' } },
      { outcome: 'retry', input: { query: '' } },
    ],
    execute: ({ query, limit = DEFAULT_LIMIT }) => {
      const found = searchTools(query, tools)
      if (found.length === 0)
        return empty({ tools: [] }, `No tool is about "${query.slice(0, 100)}". There are: ${tools.map(({ name }) => name).join(', ')}.`)
      const shown = found.slice(0, limit).map(({ name, description }) => ({ name, description: firstLine(description) }))
      const lines = shown.map(({ name, description }) => `${name}: ${description}`)
      const rest =
        found.length > shown.length
          ? [
              `Also: ${found
                .slice(shown.length)
                .map(({ name }) => name)
                .join(', ')}.`,
            ]
          : []
      return ok({ tools: shown } satisfies FoundData, {
        content: [...lines, ...rest, 'You can call these now.'].join('\n'),
        count: shown.length,
      })
    },
  })
}

/** Returns the names listed in a result of `find_tools`, which another version may have written. */
export function foundNames({ tool, result }: CallRecord): readonly string[] {
  if (tool !== FIND_TOOLS || !result.ok) return []
  const { tools } = (result.data ?? {}) as Partial<FoundData>
  return Array.isArray(tools) ? tools.flatMap((one) => (typeof one?.name === 'string' ? [one.name] : [])) : []
}

function namesOf(tools: readonly Tool[]): string {
  const names = tools.map(({ name }) => name)
  while (names.join(', ').length > MAX_NAMES) names.pop()
  return names.length < tools.length ? `${names.join(', ')} and ${tools.length - names.length} more` : names.join(', ')
}

const firstLine = (description: string): string => {
  const [line = ''] = description.split('\n')
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`
}
