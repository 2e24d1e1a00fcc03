/** Turns a thrown value into a result. Only the three typed errors keep their message; others are reduced to class and code. */
import { isMulliganError, isTransient, type MulliganError } from '../errors.ts'
import { type ErrorType, notOk, type ToolError } from '../result.ts'
import { sanitizeResult } from './sanitize-result.ts'

const codes = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Faults in which a request may have arrived anyway: an effect cut off so is indeterminate. */
const MID_FLIGHT_CODES = codes('ECONNRESET ECONNABORTED ETIMEDOUT EPIPE UND_ERR_SOCKET UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT')
const NETWORK_CODES = codes(`${[...MID_FLIGHT_CODES].join(' ')} ECONNREFUSED EAI_AGAIN ENETUNREACH EHOSTUNREACH UND_ERR_CONNECT_TIMEOUT`)
const PERMISSION_CODES = codes('EACCES EPERM EROFS')
/** The system's own codes that a model or a person can make something of. Anything else that calls itself a code may be a secret. */
const SYSTEM = codes(
  `${[...NETWORK_CODES, ...PERMISSION_CODES].join(' ')} EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY EDQUOT EEXIST EFBIG EINVAL EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP ENXIO ETXTBSY EXDEV`,
)
/** Those of Node, its resolver and undici. */
const NODES = /^(EAI|ERR|UND_ERR)_[A-Z_]{2,40}$/

/** Whether the fault may pass by itself; `retryAfter` in seconds where the service said so. */
export function transientFault(thrown: unknown): { readonly retryAfter?: number } | undefined {
  if (isTransient(thrown)) {
    const retryAfter = guarded(() => thrown.retryAfter)
    return Number.isFinite(retryAfter) ? { retryAfter: retryAfter as number } : {}
  }
  if (isMulliganError(thrown)) return undefined
  return NETWORK_CODES.has(codeOf(thrown)) ? {} : undefined
}

/** True when the connection broke after the work may have begun. A typed error says itself what became of the work. */
export const brokeInMidFlight = (thrown: unknown): boolean => !isMulliganError(thrown) && MID_FLIGHT_CODES.has(codeOf(thrown))

export function fromThrown(thrown: unknown, tool: string): ToolError {
  if (isMulliganError(thrown)) {
    const told = guarded(() => typed(thrown))
    if (told) return told
  }
  const code = codeOf(thrown)
  const errorType: ErrorType = NETWORK_CODES.has(code) ? 'network' : PERMISSION_CODES.has(code) ? 'permission' : 'internal'
  return notOk(errorType, `${tool} failed with ${classOf(thrown)}${code && ` (${code})`}. The log has the details.`)
}

/** One of the three, in its own words. */
function typed({ errorType, status, message, details, content, display }: MulliganError): ToolError {
  const some = typeof details === 'object' && details !== null && Object.keys(details).length > 0
  const more = { ...(content !== undefined && { content }), ...(display !== undefined && { display }) }
  return sanitizeResult({ ok: false, status, errorType, error: message, ...(some && { details }), ...more })
}

/** What was thrown may be anything: a getter that throws, a revoked proxy. What can't be read counts as absent. */
export function guarded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The class of what was thrown, when it is a plain name. */
function classOf(thrown: unknown): string {
  if (!guarded(() => thrown instanceof Error)) return 'an exception that is not an Error'
  const name = guarded(() => (thrown as Error).constructor.name)
  return typeof name === 'string' && /^[A-Za-z]\w{0,40}$/.test(name) ? `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}` : 'an Error'
}

/** A system error's code, its own or its cause's (`fetch failed`); empty when there is none. */
function codeOf(thrown: unknown, depth = 0): string {
  const { code, cause } = guarded(() => ({ code: (thrown as NodeError).code, cause: (thrown as NodeError).cause })) ?? {}
  if (typeof code === 'string' && (NETWORK_CODES.has(code) || PERMISSION_CODES.has(code) || SYSTEM.has(code) || NODES.test(code)))
    return code
  return cause === undefined || depth > 3 ? '' : codeOf(cause, depth + 1)
}

type NodeError = { readonly code?: unknown; readonly cause?: unknown }
