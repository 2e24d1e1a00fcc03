/** Classifies a failed model request: whether and when to retry it, and what to tell the user. */
import { backoff } from '@mulligan/core/executor'
import { contextExceeded, type Exceeded } from '../context/exceeded.ts'
import type { FailedRequest } from './model.ts'
import { redact } from './secrets.ts'

/** Maximum requests for one reply, including the first. The provider package's own retries are off, so retries happen only here. */
export const MAX_REQUEST_ATTEMPTS = 4
/** A server that asks for a longer pause than this, in seconds, is considered down. */
const MAX_RETRY_AFTER = 60

/** The stream ended before the reply did. */
export class BrokenStream extends Error {
  constructor() {
    super('the stream ended before the reply did')
    this.name = 'BrokenStream'
  }
}

/** The reply stopped for so long that no more is expected. */
export class SilentStream extends Error {
  /** Whether part of the reply arrived: then the next attempt may do better. */
  readonly begun: boolean

  constructor(ms: number, begun = true) {
    super(
      begun
        ? `The model's reply broke off, no more came for ${ms / 1000} s: check whether its server still works.`
        : `The model's server sent nothing of a reply for ${ms / 1000} s: check whether it still works, or set \`idleSeconds\` for a slow model.`,
    )
    this.name = 'SilentStream'
    this.begun = begun
  }
}

/** The reply grew beyond what any reply needs. */
export class EndlessReply extends Error {
  constructor(characters: number) {
    super(
      `The model's reply was cut off at ${characters.toLocaleString('en')} characters because it did not end: ask for less at once, or use another model.`,
    )
    this.name = 'EndlessReply'
  }
}

/** The server sent more than any reply needs, so the rest was not read. Thrown by the code that reads the bytes. */
export class OversizedReply extends Error {
  /** @param what the exceeded limit: "a line of more than 4 MB" */
  constructor(what: string) {
    super(`The model's server sent ${what}, which no reply needs, so it was cut off: check whether the server works, or use another one.`)
    this.name = 'OversizedReply'
  }
}

/** The server answered with a web page: something other than a model's API is there. Thrown by the code that reads the bytes. */
export class WebPageReply extends Error {
  constructor(url: string) {
    super(`${url} answered with a web page instead of a model's reply: is the address right? Most end with /v1.`)
    this.name = 'WebPageReply'
  }
}

/** The model keeps thinking without reaching an answer, even after it was told to. */
export class EndlessThinking extends Error {
  constructor(tokens: number) {
    super(
      `The model thought for more than ${tokens.toLocaleString('en')} tokens, twice, and gave no answer: ask for less at once, allow it more thinking, or use another model.`,
    )
    this.name = 'EndlessThinking'
  }
}

export interface RequestFault extends FailedRequest {
  /** One sentence for the person. */
  readonly message: string
  readonly retryable: boolean
  /** Seconds to wait, if the server gave them. */
  readonly retryAfter?: number
  /** The stream ended cleanly but incompletely: the next attempt is made without streaming. */
  readonly noEnd?: boolean
  /** Set if the request exceeds the model's context. */
  readonly exceeded?: Exceeded
  /** A message sent to the model with the next attempt. It is not kept in the history. */
  readonly nudge?: string
}

const UNREAD =
  '[The server could not read your last tool call, so nothing was done. Make it again: exactly one call, its arguments valid JSON.]'
/** A server error caused by the model's output: the same request may fail the same way. */
const FAILED_PARSE =
  /pars\w+ (?:the )?(?:tool|function)[ _]?calls?|failed to parse (?:input|tool|messages?|function)|invalid (?:tool|function) call/i
const NAMELESS = '[Your last call had no tool name, so nothing was done. Call the tool again with its name, or answer in words.]'

const RETRYABLE = new Set([408, 409, 425, 429])
const MAX_MESSAGE = 400
/** Maximum characters of an error that are read. */
const MAX_READ = 8000
/** Maximum characters of a server's message that are searched for secrets and shown in part. */
const MAX_SAID = 64_000
/** Escape sequences, control characters except tab and newline, and direction marks and other invisible characters. */
const UNSHOWN = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]|\p{Cf}/gu
const TOO_LONG = 'Start a new session, give the server a larger context, or use a model that has one.'

/** Classifies an error. The message never contains a secret, whatever the server says. */
export function requestFault(error: unknown, secrets: readonly string[] = []): RequestFault {
  if (error instanceof EndlessReply || error instanceof EndlessThinking) return { message: error.message, retryable: false }
  const unread = unreadIn(error)
  // A proxy's page may be gone in a moment; what is too long stays so.
  if (unread) return { message: redact(unread.message, secrets), retryable: unread instanceof WebPageReply }
  if (error instanceof SilentStream) return { message: error.message, retryable: error.begun }
  const { statusCode, responseHeaders, responseBody, message, name } = (error ?? {}) as {
    statusCode?: unknown
    responseHeaders?: Record<string, string>
    responseBody?: unknown
    message?: unknown
    name?: unknown
  }
  const said = redact(plain(sentence(responseBody) ?? (typeof message === 'string' ? message : 'unknown error')), secrets)
  const address = originOf(error)
  const exceeded = contextExceeded(
    [error, message, responseBody]
      .filter((one) => typeof one === 'string')
      .join(' ')
      .slice(0, MAX_READ),
  )
  if (exceeded) {
    const how = typeof statusCode === 'number' ? `answered ${statusCode}` : 'refused the request'
    return { message: `${clip(`The model's server ${how}: ${said}`)} ${TOO_LONG}`, retryable: false, exceeded }
  }
  if (typeof statusCode === 'number' && statusCode >= 300 && statusCode < 400) {
    const to = redact(redirectOf(error), secrets)
    return {
      message: clip(`The model's server${address} redirects${to} (${statusCode}), which is not followed: configure the right address.`),
      retryable: false,
    }
  }
  if (typeof statusCode === 'number' && statusCode >= 400) {
    const retryAfter = parseRetryAfter(responseHeaders)
    const asked = retryAfter === undefined ? {} : { retryAfter }
    const retryable = (RETRYABLE.has(statusCode) || statusCode >= 500) && (retryAfter ?? 0) <= MAX_RETRY_AFTER
    const nudge = statusCode >= 500 && FAILED_PARSE.test(said) && { nudge: UNREAD }
    return { message: clip(`The model's server answered ${statusCode}: ${said}`), retryable, status: statusCode, ...asked, ...nudge }
  }
  const code = networkCode(error)
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND')
    return {
      message: `The model's server${address} could not be reached (${code}). Is it running, and is the address correct?`,
      retryable: code === 'ECONNREFUSED',
      code,
    }
  if (error instanceof BrokenStream || /without a finish reason/.test(said))
    return { message: "The model's reply broke off: the stream ended before the reply did.", retryable: true, noEnd: true }
  if (name === 'AI_InvalidResponseDataError' && /'function\.name'/.test(said))
    return {
      message: 'The model called a tool without naming it: ask again, or use another model.',
      retryable: true,
      nudge: NAMELESS,
    }
  const broken = code !== undefined || NETWORK.test(said) || typeof statusCode === 'number'
  if (broken) return { message: clip(`The connection to the model's server broke${code ? ` (${code})` : ''}: ${said}`), retryable: true }
  // The provider package could not read the reply: the model may do better next time.
  return {
    message: clip(`The model's reply could not be read: ${said}`),
    retryable: typeof name === 'string' && UNREADABLE.test(name),
  }
}

/** Errors that provider packages throw for unreadable replies, some of them untyped. A `RangeError` is a defect and stays one. */
const UNREADABLE = /^(AI_|Error$)|TypeValidation|JSONParse/

const NETWORK = /terminated|socket|fetch failed|network|ECONN|other side closed|cannot connect/i

/** Returns the milliseconds to wait before attempt `next`. */
export const pauseBefore = (next: number, fault: RequestFault): number => backoff(next, Math.random(), fault.retryAfter)

/** Parses `Retry-After`, in seconds or as a date, and `retry-after-ms`, which some providers send. */
function parseRetryAfter(headers: Record<string, string> | undefined): number | undefined {
  const ms = Number(headers?.['retry-after-ms'])
  if (headers?.['retry-after-ms'] && Number.isFinite(ms)) return Math.max(0, ms / 1000)
  const value = headers?.['retry-after']
  if (!value) return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}

/** Returns scheme, host and port of the request URL, without its other parts. */
function originOf(error: unknown): string {
  const url = (error as { url?: unknown } | undefined)?.url
  return typeof url === 'string' && URL.canParse(url) ? ` at ${new URL(url).origin}` : ''
}

/** Returns the target of a redirect, without parts that may be private. */
function redirectOf(error: unknown): string {
  const { url, responseHeaders } = error as { url?: unknown; responseHeaders?: Record<string, string> }
  const base = typeof url === 'string' && URL.canParse(url) ? url : undefined
  const location = responseHeaders?.['location']
  if (!location || !URL.canParse(location, base)) return ''
  const { origin, pathname } = new URL(location, base)
  return ` to ${origin}${pathname}`
}

/** Extracts the server's message from an error body in the common formats. */
function sentence(body: unknown): string | undefined {
  if (typeof body !== 'string' || body.trim() === '') return undefined
  try {
    const parsed = JSON.parse(body) as { error?: unknown; message?: unknown }
    const inner = parsed.error
    if (typeof inner === 'string') return inner
    const text = (inner as { message?: unknown } | undefined)?.message ?? parsed.message
    return typeof text === 'string' ? text : undefined
  } catch {
    return body.startsWith('<') ? undefined : body.trim()
  }
}

/** Finds the error of the code that reads the bytes, which provider packages wrap. */
function unreadIn(error: unknown, depth = 0): OversizedReply | WebPageReply | undefined {
  if (error instanceof OversizedReply || error instanceof WebPageReply) return error
  const cause = (error as { cause?: unknown } | undefined)?.cause
  return cause === undefined || depth > 5 ? undefined : unreadIn(cause, depth + 1)
}

/**
 * Removes everything a terminal would interpret or not show. Run this before searching for secrets: a secret broken up by such
 * characters would be whole again on the screen.
 */
const plain = (text: string): string => text.slice(0, MAX_SAID).replace(UNSHOWN, '')

function networkCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
  if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) return code
  return networkCode(cause, depth + 1) ?? (Array.isArray(errors) ? networkCode(errors[0], depth + 1) : undefined)
}

const clip = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text)
