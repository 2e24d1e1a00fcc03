/** Small wrappers that compose toolsets. A toolset is a list of tools with distinct names. */
import { TOOL_NAME, type Tool, type ToolContext } from './tool.ts'

export type Toolset = readonly Tool[]

/**
 * All tools of several sets. Retries are counted per tool, so they stay as each tool has them.
 * @throws TypeError when a name stands twice: prefix one of the sets.
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
 * The tools under `prefix + name`. Their aliases are dropped: an alias that another set may claim is not a name. Retries stay. A service
 * that was named after its tool goes with the name, so that `a_search` and `b_search` share no circuit breaker.
 * @throws TypeError when a name would be none.
 */
export const prefixTools = (set: Toolset, prefix: string): Toolset =>
  set.map((tool) => {
    const name = `${prefix}${tool.name}`
    if (!TOOL_NAME.test(name)) throw new TypeError(`prefixTools: ${JSON.stringify(name)} does not match ${TOOL_NAME.source}`)
    return { ...tool, name, aliases: [], service: tool.service === tool.name ? name : tool.service }
  })

/** Only the tools that pass. */
export const filterTools = (set: Toolset, keep: (tool: Tool) => boolean): Toolset => set.filter(keep)

/**
 * Runs `around` about every execution; what it returns or throws is what the tool comes to, and spends retries as such.
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
