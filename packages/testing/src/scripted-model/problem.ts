/** Why a request is refused, and what each provider's refusals look like. */
import type { Protocol } from './request.ts'

/** A refusal of a request. */
export interface Problem {
  readonly status: number
  readonly message: string
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
}

const OPENAI_TYPES: Readonly<Record<number, string>> = { 429: 'requests', 500: 'server_error', 503: 'server_error' }

/** The body of an error response in the provider's shape. */
export function errorBody(protocol: Protocol, status: number, message: string): object {
  if (protocol === 'ollama') return { error: message }
  if (protocol === 'openai') {
    const type = OPENAI_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
    return { error: { message, type, param: null, code: status === 429 ? 'rate_limit_exceeded' : null } }
  }
  const type = ANTHROPIC_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message } }
}

/** The first of the messages as a refusal with status 400: providers name one fault at a time. */
export function firstProblem(messages: Iterable<string>): Problem | undefined {
  for (const message of messages) return { status: 400, message }
  return undefined
}
