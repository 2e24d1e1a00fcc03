/** Calls Slack's Web API. The executor owns retries, so the library's own are off; its default repeats a post for half an hour. */
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import type { WebAPICallError, WebClient } from '@slack/web-api'
import { UnknownOutcome } from '../common/once.ts'

export interface SlackOptions {
  /** A bot token (`xoxb-…`). Absent: the tools report that Slack is not set up. */
  readonly token?: string | undefined
  /** Default: `https://slack.com/api/`. */
  readonly url?: string | undefined
}

export type CallSlack = <T>(signal: AbortSignal, run: (client: WebClient) => Promise<T>) => Promise<T>

/** Seconds for one request. */
const SECONDS = 15
export const SETTING = 'SLACK_BOT_TOKEN'
const NOT_CONFIGURED = `Slack is not set up. Set ${SETTING} to a bot token (xoxb-…) of an app that is installed in the workspace: https://api.slack.com/apps`

/** The connection failed before a request was sent, so nothing was done. */
const NOT_SENT = /ECONNREFUSED|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT/
const BAD_TOKEN = /^(?:not_authed|invalid_auth|account_inactive|token_revoked|token_expired|no_permission|org_login_required)$/
const OVERLOADED = /^(?:service_unavailable|team_added_to_org|ratelimited|rate_limited)$/
/** Part of the work may have been done: https://docs.slack.dev/reference/methods/chat.postMessage#errors */
const BROKEN = /^(?:internal_error|fatal_error|request_timeout)$/

export function slackClient({ token, url }: SlackOptions): CallSlack {
  let library: Promise<typeof import('@slack/web-api')> | undefined
  return async (signal, run) => {
    if (!token) throw new ToolFailure(NOT_CONFIGURED, { errorType: 'config', setting: SETTING })
    library ??= import('@slack/web-api')
    const { WebClient, LogLevel } = await library
    const client = new WebClient(token, {
      ...(url !== undefined && { slackApiUrl: url.endsWith('/') ? url : `${url}/` }),
      allowAbsoluteUrls: false,
      logLevel: LogLevel.ERROR,
      logger: SILENT,
      rejectRateLimitedCalls: true,
      retryConfig: { retries: 0 },
      timeout: SECONDS * 1000,
      fetch: (address, init = {}) =>
        request(address, { ...init, signal: AbortSignal.any([signal, ...(init.signal ? [init.signal] : [])]) }),
    })
    try {
      return await run(client)
    } catch (error) {
      throw signal.aborted ? error : slackFault(error)
    }
  }
}

/** The library would log tokens' scopes and request bodies. */
const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => 'error' as never,
  setName: () => undefined,
}

async function request(address: string | URL, init: object): Promise<Response> {
  const response = await fetch(address, init)
  if (response.status !== 429 || Number(response.headers.get('retry-after')) > 0) return response
  // The library takes a limit without a time for a defect.
  return new Response(response.body, { status: 429, headers: { 'retry-after': '1' } })
}

/** Turns an error of the library into one of the contract. Errors that depend on a parameter are left to the tools: {@link errorCode}. */
function slackFault(error: unknown): unknown {
  if (error instanceof ModelRetry || error instanceof ToolFailure || error instanceof TransientError) return error
  const fault = error as WebAPICallError
  if (fault.code === 'slack_webapi_rate_limited_error')
    return new TransientError('Slack answered 429: too many requests.', { errorType: 'rate_limited', retryAfter: fault.retryAfter })
  if (fault.code === 'slack_webapi_http_error') {
    const message = `Slack answered ${fault.statusCode}.`
    return fault.statusCode >= 500 ? new UnknownOutcome(message) : new ToolFailure(message)
  }
  if (fault.code === 'slack_webapi_request_error') {
    const why = codeOf(fault.original)
    if (NOT_SENT.test(why)) return new TransientError(`Slack cannot be reached (${why}).`)
    return new UnknownOutcome(`The connection to Slack broke${why && ` (${why})`}.`)
  }
  const { error: said, needed } = platformError(fault)
  if (said === '') return error
  if (BAD_TOKEN.test(said))
    return new ToolFailure(`Slack does not accept the token (${said}). Set ${SETTING} to a valid bot token.`, {
      errorType: 'config',
      setting: SETTING,
    })
  if (said === 'missing_scope')
    return new ToolFailure(
      `The token in ${SETTING} lacks the scope ${needed || 'for this'}. Add it under "OAuth & Permissions" of the app, and install the app again.`,
      { errorType: 'config', setting: SETTING },
    )
  if (OVERLOADED.test(said)) return new TransientError(`Slack answered ${said}.`)
  return BROKEN.test(said) ? new UnknownOutcome(`Slack answered ${said}.`) : error
}

/** Returns the code of an error that Slack reported, such as `not_in_channel`; empty for any other error. */
export const errorCode = (error: unknown): string => platformError(error).error

function platformError(error: unknown): { readonly error: string; readonly needed: string } {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: Readonly<Record<string, unknown>> }
  if (code !== 'slack_webapi_platform_error') return { error: '', needed: '' }
  return { error: String(data?.['error'] ?? ''), needed: String(data?.['needed'] ?? '') }
}

function codeOf(error: unknown, depth = 0): string {
  const { code, cause, name } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown; readonly name?: unknown }
  if (typeof code === 'string') return code
  if (name === 'TimeoutError') return 'timed out'
  return cause === undefined || depth > 3 ? '' : codeOf(cause, depth + 1)
}
