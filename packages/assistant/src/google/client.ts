/** Calls Google's APIs with the official clients. The executor owns retries, so those of the clients are off. */

import type { calendar_v3 } from '@googleapis/calendar'
import type { drive_v3 } from '@googleapis/drive'
import type { gmail_v1 } from '@googleapis/gmail'
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import { UnknownOutcome } from '../common/once.ts'

/** What signs the requests: a client of `google-auth-library`. */
export type GoogleAuth = NonNullable<drive_v3.Options['auth']>

export interface GoogleOptions {
  /** Returns the credentials; undefined if Google is not set up. Called for each request. */
  readonly auth?: (() => Promise<GoogleAuth | undefined>) | undefined
  /** Another origin in place of Google's, for tests. */
  readonly rootUrl?: string | undefined
  /** Whether the mail tools are for Gmail. Default: true */
  readonly mail?: boolean | undefined
}

/** Passed to each request. */
export interface RequestOptions {
  readonly signal: AbortSignal
  readonly timeout: number
  readonly retry: false
  readonly rootUrl?: string
}

export interface GoogleClients {
  readonly drive: drive_v3.Drive
  readonly gmail: gmail_v1.Gmail
  readonly calendar: calendar_v3.Calendar
}

export type Api = keyof GoogleClients
export type CallGoogle = <A extends Api, T>(
  api: A,
  signal: AbortSignal,
  run: (client: GoogleClients[A], options: RequestOptions) => Promise<T>,
) => Promise<T>

/** Milliseconds for one request. */
const TIMEOUT = 20_000
export const LOGIN = 'mulligan auth google'
const NOT_CONFIGURED = `Google is not set up. A person has to run: ${LOGIN}`
const NAMES: Readonly<Record<Api, string>> = { drive: 'Google Drive', gmail: 'Gmail', calendar: 'Google Calendar' }

export function googleClient({ auth, rootUrl }: GoogleOptions): CallGoogle {
  return async (api, signal, run) => {
    let credentials: GoogleAuth | undefined
    try {
      credentials = await auth?.()
    } catch (error) {
      throw googleFault(error, api)
    }
    if (!credentials) throw new ToolFailure(NOT_CONFIGURED, { errorType: 'config', setting: LOGIN })
    const client = await CLIENTS[api](credentials)
    try {
      return await run(client as never, { signal, timeout: TIMEOUT, retry: false, ...(rootUrl !== undefined && { rootUrl }) })
    } catch (error) {
      throw signal.aborted ? error : googleFault(error, api)
    }
  }
}

/** Each library is loaded by the first call that needs it. */
const CLIENTS: { readonly [A in Api]: (auth: GoogleAuth) => Promise<GoogleClients[A]> } = {
  drive: async (auth) => (await import('@googleapis/drive')).drive({ version: 'v3', auth }),
  gmail: async (auth) => (await import('@googleapis/gmail')).gmail({ version: 'v1', auth: auth as never }),
  calendar: async (auth) => (await import('@googleapis/calendar')).calendar({ version: 'v3', auth: auth as never }),
}

/** A request that Google refused because of what was asked. The tools turn it into a hint. */
export class Refused extends Error {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

const NOT_SENT = /^(?:ECONNREFUSED|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT)$/
/** https://developers.google.com/workspace/drive/api/guides/handle-errors, and the same pages of Gmail and Calendar */
const LIMITED =
  /^(?:rateLimitExceeded|userRateLimitExceeded|dailyLimitExceeded|quotaExceeded|sharingRateLimitExceeded|RATE_LIMIT_EXCEEDED)$/
const DISABLED = /^(?:accessNotConfigured|SERVICE_DISABLED)$/
const NO_CONSENT = /^(?:insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT|insufficientScopes)$/

interface Fault {
  readonly status?: number
  readonly code?: string | number
  readonly cause?: unknown
  readonly response?: { readonly status?: number; readonly headers?: unknown; readonly data?: unknown }
}

/** Turns an error of the clients into one of the contract, or into {@link Refused}. */
export function googleFault(error: unknown, api: Api): unknown {
  if (error instanceof ModelRetry || error instanceof ToolFailure || error instanceof TransientError) return error
  const { response, ...fault } = (error ?? {}) as Fault
  const status = response?.status ?? fault.status
  const name = NAMES[api]
  if (status === undefined) {
    const why = networkCode(error)
    if (why === '') return error
    return NOT_SENT.test(why)
      ? new TransientError(`${name} cannot be reached (${why}).`)
      : new UnknownOutcome(`The connection to ${name} broke (${why}).`)
  }
  const { reason, message, url } = said(response?.data)
  if (reason === 'invalid_grant' || reason === 'invalid_rapt' || status === 401)
    return config(`Google does not accept the login any more (${reason || status}). A person has to run: ${LOGIN}`)
  if (DISABLED.test(reason))
    return config(`The API of ${name} is not enabled in the Google Cloud project. A person has to enable it${url && `: ${url}`}`, url)
  if (NO_CONSENT.test(reason)) return config(`The login does not cover this use of ${name}. A person has to run: ${LOGIN}`)
  if (status === 429 || LIMITED.test(reason)) {
    const seconds = Number(header(response?.headers, 'retry-after'))
    return new TransientError(`${name} answered ${status}: too many requests.`, {
      errorType: 'rate_limited',
      ...(seconds > 0 && { retryAfter: seconds }),
    })
  }
  if (status >= 500) return new UnknownOutcome(`${name} answered ${status}.`)
  if (status === 403) return new ToolFailure(`${name} refuses: ${message || 'no permission'}`, { errorType: 'permission' })
  return new Refused(status, reason, message)
}

const config = (message: string, setting = LOGIN): ToolFailure => new ToolFailure(message, { errorType: 'config', setting })

/** Characters of a message of Google's that are passed on. */
const MAX_MESSAGE = 300

/** Reads an error's body, in the older form, the newer one (https://google.aip.dev/193) or that of the token endpoint. */
function said(data: unknown): { readonly reason: string; readonly message: string; readonly url: string } {
  const { error, error_description } = fields(data)
  if (typeof error === 'string') return { reason: error, message: String(error_description ?? ''), url: '' }
  const { message = '', errors, details } = fields(error)
  const info = list(details).find((one) => typeof one['reason'] === 'string')
  const url = fields(info?.['metadata'])['activationUrl'] ?? /https:\/\/console\.\S+/.exec(String(message))?.[0] ?? ''
  const reason = info?.['reason'] ?? list(errors)[0]?.['reason'] ?? ''
  return { reason: String(reason), message: String(message).slice(0, MAX_MESSAGE), url: String(url) }
}

type Fields = Readonly<Record<string, unknown>>
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : [])

function header(headers: unknown, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  return String(fields(headers)[name] ?? '')
}

function networkCode(error: unknown, depth = 0): string {
  const { code, cause, name, type } = fields(error)
  if (typeof code === 'string' && /^[A-Z_]{4,40}$/.test(code)) return code
  if (name === 'TimeoutError' || code === 'TimeoutError' || type === 'request-timeout') return 'timed out'
  return cause === undefined || depth > 4 ? '' : networkCode(cause, depth + 1)
}
