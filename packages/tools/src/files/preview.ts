/** Previews what a call would change by running the tool in a workspace that writes nothing. */
import type { Tool, ToolContext } from '@mulligan/core'
import { isToolResult } from '@mulligan/core/executor'
import type { Workspace } from '../workspace/workspace.ts'

/** Adds a preview to a tool: the diff that its result would show. */
export function withPreview(tool: Tool, workspace: Workspace, make: (workspace: Workspace) => Tool): Tool {
  if (tool.effect === 'read') return tool
  return {
    ...tool,
    preview: async (input: unknown) => {
      const trial = make({ ...workspace, changes: NO_CHANGES, seen: new Map(workspace.seen) })
      const result = await (trial.execute as (input: unknown, ctx: ToolContext) => unknown)(input, CONTEXT)
      const fenced = isToolResult(result) && /^(`{3,})diff\n([\s\S]*)\n\1$/.exec(result.display ?? '')
      return fenced ? fenced[2] : undefined
    },
  }
}

const NO_CHANGES: Workspace['changes'] = { apply: async () => undefined, adopt: async () => undefined }

const CONTEXT: ToolContext = {
  signal: new AbortController().signal,
  callId: 'preview',
  idempotencyKey: 'preview',
  attempt: 1,
  progress: () => undefined,
}
