/**
 * Requires approval before secret files are opened: finds those that a call names, and provides a workspace in which approved ones can be
 * opened.
 */
import type { Tool, ToolContext } from '@mulligan/core'
import type { Workspace } from './workspace.ts'

/**
 * Makes a tool for a workspace that refuses secret files. A call that was approved to open some runs in a workspace that opens them. A tool
 * that names too few of them gets an error, never their content.
 * @param gone whether the tool shows the content of files that no longer exist
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

/** Returns the same workspace for one call that may open these secret files. */
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
