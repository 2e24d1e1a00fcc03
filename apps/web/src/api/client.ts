/** Calls the HTTP API. Every failure becomes an {@link ApiError} with a message for the person. */
import type { Reliability } from '@mulligan/server/reliability'
import { dropToken, takeToken } from './token.ts'
import type { AgentEvent, Answer, Approval, Changes, Model, Session } from './types.ts'

export class ApiError extends Error {
  /** 0 if the server could not be reached. */
  readonly status: number
  readonly hint: string | undefined
  constructor(status: number, message: string, hint?: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.hint = hint
  }
}

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

async function request<T>(method: string, path: string, body?: unknown, key?: string): Promise<T> {
  const headers = authorized({
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(method === 'POST' && { 'idempotency-key': key ?? crypto.randomUUID() }),
  })
  const response = await fetch(`api${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }).catch(() => {
    throw new ApiError(0, 'The server cannot be reached.', 'Is mulligan serve still running?')
  })
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T
  if (response.status === 401) refuse()
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string; hint?: string } }
  throw new ApiError(response.status, error?.message ?? `The server answered ${response.status}.`, error?.hint)
}

const query = (values: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(values).flatMap(([key, value]) => (value === undefined || value === '' ? [] : [[key, String(value)]]))
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
const at = (id: string): string => `/sessions/${encodeURIComponent(id)}`
const atTurn = (id: string, turn: string): string => `${at(id)}/turns/${encodeURIComponent(turn)}`

export interface NewSession {
  readonly cwd: string
  readonly model?: string
  readonly baseUrl?: string
}

export const api = {
  sessions: (of: { q?: string; limit?: number; cursor?: string }) =>
    request<{ sessions: readonly Session[]; next?: string }>('GET', `/sessions${query(of)}`),
  session: (id: string) => request<Session>('GET', at(id)),
  create: (session: NewSession) => request<{ id: string }>('POST', '/sessions', session),
  rename: (id: string, title: string) => request<unknown>('PATCH', at(id), { title }),
  remove: (id: string) => request<undefined>('DELETE', at(id)),
  history: (id: string, after: number, limit: number) =>
    request<{ events: readonly AgentEvent[]; last: number }>('GET', `${at(id)}/history.json${query({ after, limit })}`),
  /** @param key repeats of this message with the same key start one turn */
  send: (id: string, prompt: string, key: string) => request<{ turnId: string }>('POST', `${at(id)}/turns`, { prompt }, key),
  abort: (id: string) => request<{ aborted: boolean }>('POST', `${at(id)}/abort`, {}),
  retry: (id: string) => request<{ turnId: string }>('POST', `${at(id)}/retry`, {}),
  /** @param before this turn and what follows are left out. Default: none */
  branch: (id: string, before?: string) =>
    request<{ id: string }>('POST', `${at(id)}/branch`, before === undefined ? {} : { turnId: before }),
  changes: (id: string, turnId: string) => request<Changes>('GET', `${atTurn(id, turnId)}/changes`),
  undo: (id: string, turnId: string) =>
    request<{ undone: readonly unknown[]; left: readonly { path: string; why: string }[] }>('POST', `${atTurn(id, turnId)}/undo`, {}),
  approvals: (session?: string) => request<{ approvals: readonly Approval[] }>('GET', `/approvals${query({ session })}`),
  answer: (id: string, answer: { answer: Answer; hash: string; reason?: string; offer?: number }) =>
    request<unknown>('POST', `/approvals/${encodeURIComponent(id)}`, answer),
  models: () => request<{ models: readonly Model[] }>('GET', '/models'),
  reliability: (of: { since?: number; cwd?: string; tool?: string; model?: string }) =>
    request<Reliability>('GET', `/reliability${query(of)}`),
}
