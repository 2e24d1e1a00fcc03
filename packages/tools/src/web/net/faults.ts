/** From what the network threw to what it means for the model. */
import { ModelRetry, type MulliganError, ToolFailure, TransientError } from '@mulligan/core'

/** The faults of certificates that people meet, as they would say them. */
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

/** What may pass by itself. */
const PASSING: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'its name could not be looked up just now',
  ECONNREFUSED: 'it refuses the connection',
  ECONNRESET: 'it broke the connection',
  ECONNABORTED: 'it broke the connection',
  EPIPE: 'it broke the connection',
  UND_ERR_SOCKET: 'it broke the connection',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it does not answer',
  UND_ERR_BODY_TIMEOUT: 'it stopped sending',
  ENETUNREACH: 'no way leads there from here',
  EHOSTUNREACH: 'no way leads there from here',
  EADDRNOTAVAIL: 'no way leads there from here',
}

/** Codes that Node's resolver has for a name that nobody has. */
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
  const passing = PASSING[code]
  if (passing) return new TransientError(`${host} cannot be reached: ${passing}.`, cause)
  const certificate = CERTIFICATE[code]
  if (certificate) return new ToolFailure(`The certificate of ${host} is not accepted: ${certificate}.`, cause)
  if (/^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$|CERT_|CRL_|INVALID_CA$|HOSTNAME_MISMATCH$)/.test(code))
    return new ToolFailure(`No secure connection to ${host} could be made (${code}).`, cause)
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW')
    return new ToolFailure(`${host} sent headers without end.`, cause)
  if (/^(?:HPE_|UND_ERR_)/.test(code) || (error instanceof Error && error.name === 'HTTPParserError'))
    return new ToolFailure(`What ${host} sent is not valid HTTP.`, cause)
  return new ToolFailure(`The page could not be fetched from ${host}${code && ` (${code})`}.`, cause)
}

/** Its own code, that of its cause, or of the first of several attempts. */
function codeOf(error: unknown, depth = 0): string {
  const { code, cause, errors } = (error ?? {}) as {
    readonly code?: unknown
    readonly cause?: unknown
    readonly errors?: readonly unknown[]
  }
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return code
  const inner = cause ?? errors?.[0]
  return inner === undefined || depth > 3 ? '' : codeOf(inner, depth + 1)
}
