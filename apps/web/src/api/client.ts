/** Calls the HTTP API. A server that refuses the token is not asked again. */
import { createClient, ServerError } from '@mulligan/server/client'
import type { Reliability } from '@mulligan/server/reliability'
import { dropToken, takeToken } from './token.ts'
import type { Answer } from './types.ts'

export { ServerError }

let onUnauthorized: () => void = () => undefined
/** Sets what happens when the server refuses the token. */
export function whenUnauthorized(then: () => void): void {
  onUnauthorized = then
}

export const authorized = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  authorization: `Bearer ${takeToken() ?? ''}`,
  ...more,
})

export function refuse(): void {
  dropToken()
  onUnauthorized()
}

const { call } = createClient({
  url: new URL('.', location.href).href,
  token: () => takeToken() ?? '',
  fetch: async (...given) => {
    const response = await fetch(...given)
    if (response.status === 401) refuse()
    return response
  },
})

export interface NewSession {
  readonly cwd: string
  readonly model?: string
  readonly baseUrl?: string
}

export const api = {
  sessions: (query: { q?: string; limit?: number; cursor?: string }) => call('GET /api/sessions', { query }),
  session: (id: string) => call('GET /api/sessions/:id', { params: { id } }),
  create: (body: NewSession) => call('POST /api/sessions', { body }),
  rename: (id: string, title: string) => call('PATCH /api/sessions/:id', { params: { id }, body: { title } }),
  remove: (id: string) => call('DELETE /api/sessions/:id', { params: { id } }),
  history: (id: string, after: number, limit: number) =>
    call('GET /api/sessions/:id/history.json', { params: { id }, query: { after, limit } }),
  /** @param idempotencyKey repeats of this message with the same key start one turn */
  send: (id: string, prompt: string, idempotencyKey: string) =>
    call('POST /api/sessions/:id/turns', { params: { id }, body: { prompt }, idempotencyKey }),
  abort: (id: string) => call('POST /api/sessions/:id/abort', { params: { id } }),
  retry: (id: string) => call('POST /api/sessions/:id/retry', { params: { id } }),
  /** @param before this turn and what follows are left out. Default: none */
  branch: (id: string, before?: string) =>
    call('POST /api/sessions/:id/branch', { params: { id }, body: before === undefined ? {} : { turnId: before } }),
  changes: (id: string, turnId: string) => call('GET /api/sessions/:id/turns/:turnId/changes', { params: { id, turnId } }),
  undo: (id: string, turnId: string) => call('POST /api/sessions/:id/turns/:turnId/undo', { params: { id, turnId } }),
  approvals: (session?: string) => call('GET /api/approvals', { query: session === undefined ? {} : { session } }),
  answer: (id: string, body: { answer: Answer; hash: string; reason?: string; offer?: number }) =>
    call('POST /api/approvals/:id', { params: { id }, body }),
  models: () => call('GET /api/models'),
  reliability: async (query: { since?: number; cwd?: string; tool?: string; model?: string }) =>
    (await call('GET /api/reliability', { query })) as unknown as Reliability,
}
