/** Secret files ask before they are opened: which ones a call names, and the workspace in which those that were approved can be. */
import type { Tool, ToolContext } from '@mulligan/core'
import type { Workspace } from './workspace.ts'

/**
 * The tool, made for a workspace that refuses secret files; a call that was approved to open some runs in one that opens these.
 * A tool that names too few of them is refused, never served.
 * @param gone whether it shows what files held that are not there any more
 */
export function withSecrets(workspace: Workspace, make: (workspace: Workspace) => Tool, { gone = false } = {}): Tool {
  const tool = make(workspace)
  const execute = (of: Tool) => of.execute as (input: unknown, ctx: ToolContext) => unknown
  return {
    ...tool,
    secrets: (input: Record<string, unknown>) => workspace.secrets(pathsOf(tool, input), { gone }),
    execute: (input: unknown, ctx: ToolContext) =>
      execute(ctx.secrets && ctx.secrets.length > 0 ? make(opening(workspace, ctx.secrets)) : tool)(input, ctx),
  }
}

/** The same workspace, for one call. */
function opening(workspace: Workspace, secrets: readonly string[]): Workspace {
  const opened = new Set(secrets)
  return {
    ...workspace,
    shows: (target) => opened.has(target) || workspace.shows(target),
    resolve: (path, options) => workspace.resolve(path, { ...options, opened }),
  }
}

function pathsOf(tool: Tool, input: Record<string, unknown>): readonly string[] {
  const targets = tool.target(input as never)
  const path = input['path']
  return [...(typeof targets === 'string' ? [targets] : targets), ...(typeof path === 'string' ? [path] : [])]
}
