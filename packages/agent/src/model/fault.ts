/** Classifies a failed model request: whether and when to retry, and what to tell the user. */
import { backoff } from '@mulligan/core'
import { contextExceeded, type Exceeded } from '../context/exceeded.ts'
import type { FailedRequest } from '../options.ts'
import { redact } from './secrets.ts'

/** Requests for one reply, the first included. The provider package's own retries are off: this is their one owner. */
export const MAX_REQUEST_ATTEMPTS = 4
/** A server that asks for a longer pause than this, in seconds, is taken to be gone. */
const MAX_RETRY_AFTER = 60

/** The stream ended before the reply did. */
export class BrokenStream extends Error {
  constructor() {
    super('the stream ended before the reply did')
    this.name = 'BrokenStream'
  }
}

/** Nothing more of the reply came for so long that nothing is expected to. */
export class SilentStream extends Error {
  /** Part of the reply has come: the next attempt may do better. */
  readonly begun: boolean

  constructor(ms: number, begun = true) {
    super(
      begun
        ? `The model's reply broke off, no more came for ${ms / 1000} s: look whether its server still works.`
        : `The model's server sent nothing of a reply for ${ms / 1000} s: look whether it still works, or set \`idleSeconds\` for a slow model.`,
    )
    this.name = 'SilentStream'
    this.begun = begun
  }
}

/** The reply grew past what any reply needs. */
export class EndlessReply extends Error {
  constructor(characters: number) {
    super(
      `The model's reply was cut off at ${characters.toLocaleString('en')} characters because it did not end: ask for less at once, or use another model.`,
    )
    this.name = 'EndlessReply'
  }
}

/** The server sent more than any reply takes, so the rest was not read. Whoever reads its bytes throws it. */
export class OversizedReply extends Error {
  /** @param what with its limit: "a line of more than 4 MB" */
  constructor(what: string) {
    super(`The model's server sent ${what}, which no reply needs, so it was cut off: look whether the server works, or use another one.`)
    this.name = 'OversizedReply'
  }
}

/** The model thinks and does not come to an answer, also when it is told to. */
export class EndlessThinking extends Error {
  constructor(tokens: number) {
    super(
      `The model thought for more than ${tokens.toLocaleString('en')} tokens, twice, and gave no answer: ask for less at once, allow it more thinking, or use another model.`,
    )
    this.name = 'EndlessThinking'
  }
}

export interface RequestFault extends FailedRequest {
  /** For the person: one sentence. */
  readonly message: string
  readonly retryable: boolean
  /** Seconds, where the server said so. */
  readonly retryAfter?: number
  /** The stream came to an orderly end that was none: the next attempt is made without streaming. */
  readonly noEnd?: boolean
  /** The request is longer than the model's context. */
  readonly exceeded?: Exceeded
  /** Goes to the model with the next attempt. It is not kept in the history. */
  readonly nudge?: string
}

const UNREAD =
  '[The server could not read your last tool call, so nothing was done. Make it again: exactly one call, its arguments valid JSON.]'
/** A server that fails because of what the model wrote: to ask the same again may give the same. */
const FAILED_PARSE =
  /pars\w+ (?:the )?(?:tool|function)[ _]?calls?|failed to parse (?:input|tool|messages?|function)|invalid (?:tool|function) call/i
const NAMELESS = '[Your last call had no tool name, so nothing was done. Call the tool again with its name, or answer in words.]'

const RETRYABLE = new Set([408, 409, 425, 429])
const MAX_MESSAGE = 400
/** Characters of an error that are read. */
const MAX_READ = 8000
/** Characters of a server's own sentence that are looked through for secrets and shown in part. */
const MAX_SAID = 64_000
/** Escape sequences; controls but for tab and newline; marks of direction and others that are not seen. */
const UNSHOWN = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]|\p{Cf}/gu
const TOO_LONG = 'Start a new session, give the server a larger context, or use a model that has one.'

/** What failed. No secret is in its message, whatever the server says. */
export function requestFault(error: unknown, secrets: readonly string[] = []): RequestFault {
  if (error instanceof EndlessReply || error instanceof EndlessThinking) return { message: error.message, retryable: false }
  const oversized = oversizedIn(error)
  if (oversized) return { message: oversized.message, retryable: false }
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
      message: clip(`The model's server${address} redirects${to} (${statusCode}), which is not followed: name the right address yourself.`),
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
  // A reply the provider package could not read: the model may do better the next time.
  return {
    message: clip(`The model's reply could not be read: ${said}`),
    retryable: typeof name === 'string' && UNREADABLE.test(name),
  }
}

/** What provider packages throw on a reply they can't read, some of it plain; a `RangeError` is a defect, and stays one. */
const UNREADABLE = /^(AI_|Error$)|TypeValidation|JSONParse/

const NETWORK = /terminated|socket|fetch failed|network|ECONN|other side closed|cannot connect/i

/** Milliseconds before attempt `next`. */
export const pauseBefore = (next: number, fault: RequestFault): number => backoff(next, Math.random(), fault.retryAfter)

/** `Retry-After` in seconds or as a date, and the `retry-after-ms` that some providers send. */
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

/** Scheme, host and port of the request, without what else a URL may hold. */
function originOf(error: unknown): string {
  const url = (error as { url?: unknown } | undefined)?.url
  return typeof url === 'string' && URL.canParse(url) ? ` at ${new URL(url).origin}` : ''
}

/** Where a redirect leads, without what may be private in it. */
function redirectOf(error: unknown): string {
  const { url, responseHeaders } = error as { url?: unknown; responseHeaders?: Record<string, string> }
  const base = typeof url === 'string' && URL.canParse(url) ? url : undefined
  const location = responseHeaders?.['location']
  if (!location || !URL.canParse(location, base)) return ''
  const { origin, pathname } = new URL(location, base)
  return ` to ${origin}${pathname}`
}

/** The server's own sentence in an error body, in the shapes that are common. */
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

/** Provider packages wrap what a body is broken off with. */
function oversizedIn(error: unknown, depth = 0): OversizedReply | undefined {
  if (error instanceof OversizedReply || depth > 5) return error instanceof OversizedReply ? error : undefined
  const cause = (error as { cause?: unknown } | undefined)?.cause
  return cause === undefined ? undefined : oversizedIn(cause, depth + 1)
}

/**
 * Without what a terminal would obey or not show. Before secrets are looked for: one that is broken up by such characters
 * would be whole again on the screen.
 */
const plain = (text: string): string => text.slice(0, MAX_SAID).replace(UNSHOWN, '')

function networkCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
  if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) return code
  return networkCode(cause, depth + 1) ?? (Array.isArray(errors) ? networkCode(errors[0], depth + 1) : undefined)
}

const clip = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text)
