/** What the HTTP API returns. Events are those of the agent, as in `--json-stream`. */
import type { AgentEvent } from '@mulligan/agent'

export type { Approval, Session } from '@mulligan/server'
export type { AgentEvent }

export type Answer = 'once' | 'session' | 'always' | 'no'

export interface FileChange {
  readonly path: string
  readonly change: string
  readonly diff?: string
}

export interface Changes {
  readonly files: readonly FileChange[]
  readonly undone: boolean
}

export interface Model {
  readonly id: string
  /** The server that has it. */
  readonly server: string
}
