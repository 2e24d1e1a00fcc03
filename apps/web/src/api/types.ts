/** What the HTTP API returns. Events are those of the agent, as in `--json-stream`. */
import type { AgentEvent } from '@mulligan/agent'
import type { CallOutput } from '@mulligan/server/client'

export type { Approval, Session } from '@mulligan/server'
export type { AgentEvent }

export type Answer = 'once' | 'session' | 'always' | 'no'

export type SessionDetails = CallOutput<'GET /api/sessions/:id'>
export type Changes = CallOutput<'GET /api/sessions/:id/turns/:turnId/changes'>
export type FileChange = Changes['files'][number]
export type Model = CallOutput<'GET /api/models'>['models'][number]
