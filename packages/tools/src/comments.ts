/**
 * Ignores the comments that models often add to a call for the person who approves it. No tool here uses them, and models are not asked to
 * repeat a call because of them.
 */
import type { Tool } from '@mulligan/core'

const COMMENTS = [
  ...['description', 'explanation', 'justification', 'reason', 'rationale', 'thought', 'thoughts', 'instruction', 'instructions'],
  ...['requires_approval', 'safe_to_run', 'SafeToAutoRun', 'is_dangerous', 'tool_summary', 'tool_action', 'task_progress'],
]

export const ignoringComments = (tools: readonly Tool[]): Tool[] =>
  tools.map((tool) => ({ ...tool, ignoredParameters: [...COMMENTS, ...tool.ignoredParameters] }))
