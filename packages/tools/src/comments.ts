/** What models are used to say about a call, for whoever has to allow it: no tool here takes it, and none asks for it again. */
import type { Tool } from '@mulligan/core'

const COMMENTS = [
  ...['description', 'explanation', 'justification', 'reason', 'rationale', 'thought', 'thoughts', 'instruction', 'instructions'],
  ...['requires_approval', 'safe_to_run', 'SafeToAutoRun', 'is_dangerous', 'tool_summary', 'tool_action', 'task_progress'],
]

export const ignoringComments = (tools: readonly Tool[]): Tool[] =>
  tools.map((tool) => ({ ...tool, ignoredParameters: [...COMMENTS, ...tool.ignoredParameters] }))
