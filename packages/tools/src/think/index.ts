import type { Tool } from '@mulligan/core'
import { type Ask, askUserTool } from './ask_user/tool.ts'
import { progressUpdateTool } from './progress_update/tool.ts'
import { memoryState, type SessionState } from './state.ts'
import { thinkTool } from './think/tool.ts'
import { todoTool } from './todo/tool.ts'

export interface ThinkOptions {
  /** Where notes and the task list are kept. Default: in memory. */
  readonly state?: SessionState
  /** Asks the user a question. If absent, nobody is available to answer. */
  readonly ask?: Ask
}

/**
 * Creates the tools for thinking, planning and asking, for one session.
 *
 * @example
 * const tools = thinkTools({ state: fileState('session.json') })
 */
export function thinkTools({ state = memoryState(), ask }: ThinkOptions = {}): Tool[] {
  return [thinkTool(state), todoTool(state), progressUpdateTool(), askUserTool(ask)]
}
