/** Small wrappers for composing toolsets. A toolset is a list of tools with distinct names. */
import { type ErrorDisclosure, TOOL_NAME, type Tool, type ToolContext } from './tool.ts'

export type Toolset = readonly Tool[]

/**
 * Merges toolsets. Retries are counted per tool, so each tool keeps its own.
 * @throws TypeError if two tools have the same name: prefix one of the sets
 */
export function mergeToolsets(...sets: readonly Toolset[]): Toolset {
  const seen = new Set<string>()
  for (const { name } of sets.flat()) {
    if (seen.has(name)) throw new TypeError(`two tools are named "${name}"; use prefixTools on one of the sets`)
    seen.add(name)
  }
  return sets.flat()
}

/**
 * Prefixes the names of all tools. Their aliases are dropped, since another set may claim the same alias. Retries stay. A service
 * named after its tool is prefixed too, so that `a_search` and `b_search` do not share a circuit breaker.
 * @throws TypeError if a prefixed name is not a valid tool name
 */
export const prefixTools = (set: Toolset, prefix: string): Toolset =>
  set.map((tool) => {
    const name = `${prefix}${tool.name}`
    if (!TOOL_NAME.test(name)) throw new TypeError(`prefixTools: ${JSON.stringify(name)} does not match ${TOOL_NAME.source}`)
    return { ...tool, name, aliases: [], service: tool.service === tool.name ? name : tool.service }
  })

/**
 * Sets what the model reads of unexpected exceptions, for tools that don't set it themselves.
 * @example
 * mergeToolsets(own, withErrors(fromServer, 'class'))
 */
export const withErrors = (set: Toolset, errors: ErrorDisclosure): Toolset => set.map((tool) => ({ errors, ...tool }))

/** Returns the tools for which `keep` returns true. */
export const filterTools = (set: Toolset, keep: (tool: Tool) => boolean): Toolset => set.filter(keep)

/**
 * Wraps every execution in `around`. What it returns or throws becomes the tool's outcome and uses up retries as usual.
 * @example
 * wrapTools(tools, async (run, input, ctx, tool) => { log(tool.name); return run(input, ctx) })
 */
export function wrapTools(
  set: Toolset,
  around: (run: (input: unknown, ctx: ToolContext) => unknown, input: unknown, ctx: ToolContext, tool: Tool) => unknown,
): Toolset {
  return set.map((tool) => {
    const run = tool.execute as (input: unknown, ctx: ToolContext) => unknown
    return { ...tool, execute: (input: unknown, ctx: ToolContext) => around(run, input, ctx, tool) }
  })
}
