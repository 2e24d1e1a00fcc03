/** Converts network errors to errors for the model. */
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import type { MulliganError } from '@mulligan/core/executor'

/** Common certificate errors in plain words. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its chain has a self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its chain is not complete',
  UNABLE_TO_GET_ISSUER_CERT: 'its chain is not complete',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its issuer is not known',
  CERT_REVOKED: 'it has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
}

/** Errors that may be temporary, with their codes. */
const PASSING: Readonly<Record<string, string>> = {
  'its name could not be looked up just now': 'EAI_AGAIN',
  'it refuses the connection': 'ECONNREFUSED',
  'it closed the connection': 'ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET',
  'it does not answer': 'ETIMEDOUT UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT',
  'it stopped sending': 'UND_ERR_BODY_TIMEOUT',
  'there is no network route to it': 'ENETUNREACH EHOSTUNREACH EADDRNOTAVAIL',
}

/** Codes Node's resolver uses for a name that does not exist. */
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_NONAME', 'EAI_NODATA', 'ENODATA'])

export function faultOf(error: unknown, { host, hostname, href }: URL): MulliganError {
  const code = codeOf(error)
  const cause = { cause: error }
  if (NO_SUCH_NAME.has(code))
    return new ModelRetry(`There is no host named ${hostname}.`, {
      errorType: 'not_found',
      parameter: 'url',
      value: href,
      constraint: 'the URL of a host that exists',
      ...cause,
    })
  const [passing] = Object.entries(PASSING).find(([, codes]) => codes.split(' ').includes(code)) ?? []
  if (passing) return new TransientError(`${host} cannot be reached: ${passing}.`, cause)
  const certificate = CERTIFICATE[code]
  if (certificate) return new ToolFailure(`The certificate of ${host} is not accepted: ${certificate}.`, cause)
  if (/^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$|CERT_|CRL_|INVALID_CA$|HOSTNAME_MISMATCH$)/.test(code))
    return new ToolFailure(`No secure connection to ${host} could be made (${code}).`, cause)
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return new ToolFailure(`${host} sent too many headers.`, cause)
  if (/^(?:HPE_|UND_ERR_)/.test(code) || (error instanceof Error && error.name === 'HTTPParserError'))
    return new ToolFailure(`The response of ${host} is not valid HTTP.`, cause)
  return new ToolFailure(`The page could not be fetched from ${host}${code && ` (${code})`}.`, cause)
}

/** Returns the code of the error, of its cause, or of the first of several attempts. */
function codeOf(error: unknown, depth = 0): string {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return code
  const inner = cause ?? errors?.[0]
  return inner === undefined || depth > 3 ? '' : codeOf(inner, depth + 1)
}

/** Parses `Retry-After`, in seconds or as a date. */
export function retryAfter(header: (name: string) => string, now: number = Date.now()): { readonly retryAfter?: number } {
  const value = header('retry-after').trim()
  const seconds = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000
  return Number.isFinite(seconds) ? { retryAfter: Math.max(0, seconds) } : {}
}
