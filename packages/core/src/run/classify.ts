/** Turns a thrown value into a result. The three typed errors keep their message; others are redacted, or reduced to class and code. */
import { isMulliganError, isTransient, type MulliganError } from '../errors.ts'
import { type ErrorType, notOk, type ToolError } from '../result.ts'
import type { ErrorDisclosure, Tool } from '../tool.ts'
import { redactMessage } from './redact.ts'
import { sanitizeResult } from './sanitize-result.ts'

const codes = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Faults after which the request may have arrived anyway: an effect cut off this way is indeterminate. */
const MID_FLIGHT_CODES = codes('ECONNRESET ECONNABORTED ETIMEDOUT EPIPE UND_ERR_SOCKET UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT')
const NETWORK_CODES = codes(`${[...MID_FLIGHT_CODES].join(' ')} ECONNREFUSED EAI_AGAIN ENETUNREACH EHOSTUNREACH UND_ERR_CONNECT_TIMEOUT`)
const PERMISSION_CODES = codes('EACCES EPERM EROFS')
/** Other error codes of the system, and those of Node, its resolver and undici. Any other code may contain a secret. */
const KNOWN_CODE =
  /^(?:E(?:ADDRINUSE|AGAIN|BUSY|EXIST|FBIG|INVAL|IO|ISDIR|MFILE|NAMETOOLONG|NOENT|NOMEM|NOSPC|NOTDIR|NOTEMPTY|NOTFOUND|XDEV)|(?:EAI|ERR|UND_ERR)_[A-Z_]{2,40})$/

/** Returns the fault if it may be transient; `retryAfter` is in seconds, if the service gave it. */
export function transientFault(thrown: unknown): { readonly retryAfter?: number } | undefined {
  if (isTransient(thrown)) {
    const retryAfter = guarded(() => thrown.retryAfter)
    return Number.isFinite(retryAfter) ? { retryAfter: retryAfter as number } : {}
  }
  if (isMulliganError(thrown)) return undefined
  return NETWORK_CODES.has(codeOf(thrown)) ? {} : undefined
}

/** Returns true if the connection broke after the work may have begun. A typed error reports the outcome itself, by its status. */
export const isOutcomeUnknown = (thrown: unknown): boolean =>
  isMulliganError(thrown) ? guarded(() => thrown.status) === 'indeterminate' : MID_FLIGHT_CODES.has(codeOf(thrown))

type DisclosureTraits = { readonly errors?: ErrorDisclosure | undefined; readonly untrusted?: boolean | undefined }

/** Whether the model may read a tool exception's redacted message. If not, it reads only the class. */
export const disclosesMessage = ({ errors, untrusted }: DisclosureTraits, options: Pick<DisclosureTraits, 'errors'>): boolean =>
  (errors ?? options.errors ?? (untrusted ? 'class' : 'message')) === 'message'

/** Returns the result of an exception of a tool, with as much of its message as the model may read. */
export function failureOf(
  thrown: unknown,
  tool: Tool,
  options: { readonly errors?: ErrorDisclosure; readonly redact?: (text: string) => string },
): ToolError {
  return fromThrown(
    thrown,
    tool.name,
    disclosesMessage(tool, options) ? (text) => redactMessage(options.redact?.(text) ?? text) : undefined,
  )
}

/** @param redact removes what must not be seen from the message of an exception; without it, only its class and code are told */
export function fromThrown(thrown: unknown, tool: string, redact?: (text: string) => string): ToolError {
  if (isMulliganError(thrown)) {
    const told = guarded(() => typed(thrown))
    if (told) return told
  }
  const code = codeOf(thrown)
  const errorType: ErrorType = NETWORK_CODES.has(code) ? 'network' : PERMISSION_CODES.has(code) ? 'permission' : 'internal'
  const message = redact?.(messageOf(thrown)) ?? ''
  if (message !== '') return notOk(errorType, `${tool} failed: ${message}${message.includes(code) ? '' : ` (${code})`}`)
  return notOk(errorType, `${tool} failed with ${classOf(thrown)}${code && ` (${code})`}. The log has the details.`)
}

/** Returns the message of a thrown value; empty if it has none. */
function messageOf(thrown: unknown): string {
  const message = typeof thrown === 'string' ? thrown : guarded(() => (thrown as Error).message)
  return typeof message === 'string' ? message : ''
}

/** Converts one of the three typed errors, keeping its message. */
function typed({ errorType, status, message, details, content, display }: MulliganError): ToolError {
  const some = typeof details === 'object' && details !== null && Object.keys(details).length > 0
  const more = { ...(content !== undefined && { content }), ...(display !== undefined && { display }) }
  return sanitizeResult({ ok: false, status, errorType, error: message, ...(some && { details }), ...more })
}

/** Reads from a thrown value, which may be anything: a throwing getter, a revoked proxy. Unreadable values count as absent. */
export function guarded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Returns the class name of a thrown value if it is a plain name. */
function classOf(thrown: unknown): string {
  if (!guarded(() => thrown instanceof Error)) return 'an exception that is not an Error'
  const name = guarded(() => (thrown as Error).constructor.name)
  return typeof name === 'string' && /^[A-Za-z]\w{0,40}$/.test(name) ? `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}` : 'an Error'
}

/** Returns a system error's code or that of its cause (`fetch failed`); empty if there is none. */
function codeOf(thrown: unknown, depth = 0): string {
  const { code, cause } = guarded(() => ({ code: (thrown as NodeError).code, cause: (thrown as NodeError).cause })) ?? {}
  if (typeof code === 'string' && (NETWORK_CODES.has(code) || PERMISSION_CODES.has(code) || KNOWN_CODE.test(code))) return code
  return cause === undefined || depth > 3 ? '' : codeOf(cause, depth + 1)
}

type NodeError = { readonly code?: unknown; readonly cause?: unknown }
