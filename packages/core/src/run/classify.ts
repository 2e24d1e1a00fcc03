/** From what a tool threw to a result. Only the three typed errors pass with their words; of anything else, its class and code. */
import { isMulliganError, isTransient, type MulliganError } from '../errors.ts'
import { type ErrorType, notOk, type ToolError } from '../result.ts'
import { sane } from './sane.ts'

const NETWORK_CODES = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const PERMISSION_CODES = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Whether the fault may pass by itself; `retryAfter` in seconds where the service said so. */
export function transientFault(thrown: unknown): { readonly retryAfter?: number } | undefined {
  if (isTransient(thrown)) {
    const retryAfter = guarded(() => thrown.retryAfter)
    return Number.isFinite(retryAfter) ? { retryAfter: retryAfter as number } : {}
  }
  if (isMulliganError(thrown)) return undefined
  const code = codeOf(thrown)
  return code !== undefined && NETWORK_CODES.has(code) ? {} : undefined
}

/** Faults in which a request may have arrived all the same: an effect cut off so is in doubt. */
const MID_FLIGHT_CODES = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

/** True when the connection broke after the work may have begun. A typed error says itself what became of the work. */
export const brokeInMidFlight = (thrown: unknown): boolean => !isMulliganError(thrown) && MID_FLIGHT_CODES.has(codeOf(thrown) ?? '')

export function fromThrown(thrown: unknown, tool: string): ToolError {
  if (isMulliganError(thrown)) {
    const told = guarded(() => typed(thrown))
    if (told) return told
  }
  const code = codeOf(thrown)
  const name = classOf(thrown)
  const errorType: ErrorType =
    code === undefined ? 'internal' : NETWORK_CODES.has(code) ? 'network' : PERMISSION_CODES.has(code) ? 'permission' : 'internal'
  return notOk(errorType, `${tool} failed with ${name}${code === undefined ? '' : ` (${code})`}. The log has the details.`)
}

/** One of the three, in its own words. */
function typed({ errorType, status, message, details, display }: MulliganError): ToolError {
  const some = typeof details === 'object' && details !== null && Object.keys(details).length > 0
  return sane({ ok: false, status, errorType, error: message, ...(some && { details }), ...(display !== undefined && { display }) })
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
  if (!guarded(() => thrown instanceof Error)) return 'an exception that is no Error'
  const name = guarded(() => (thrown as Error).constructor.name)
  return typeof name === 'string' && /^[A-Za-z]\w{0,40}$/.test(name) ? `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}` : 'an Error'
}

/** A system error's code, its own or its cause's (`fetch failed`). */
function codeOf(thrown: unknown, depth = 0): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || depth > 3) return undefined
  const code = guarded(() => (thrown as { code?: unknown }).code)
  if (typeof code === 'string' && (SYSTEM.has(code) || NODES.test(code))) return code
  const cause = guarded(() => (thrown as { cause?: unknown }).cause)
  return codeOf(cause, depth + 1)
}

/** The system's own codes. Anything else that calls itself a code may be a secret. */
const SYSTEM = new Set(
  (
    'E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY ECANCELED ECONNABORTED ECONNREFUSED ECONNRESET EDQUOT EEXIST EFBIG ' +
    'EHOSTDOWN EHOSTUNREACH EINTR EINVAL EIO EISDIR ELOOP EMFILE EMLINK EMSGSIZE ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH ENFILE ' +
    'ENOBUFS ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP ENXIO EPERM EPIPE EPROTO ERANGE ' +
    'EROFS ESPIPE ESRCH ETIMEDOUT ETXTBSY EXDEV'
  ).split(' '),
)
/** Those of Node, its resolver and undici. */
const NODES = /^(EAI_[A-Z]{2,12}|ERR_[A-Z_]{2,40}|UND_ERR_[A-Z_]{2,30})$/
