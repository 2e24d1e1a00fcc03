/** Says why a server could not be reached, and what the person can do. */

const NOT_FOUND = 'its host name was not found: check the address'
const NO_ROUTE = 'its host can not be reached: check the address and the network'
const NO_TIME = 'no connection was made in time: check the address and the network'
const CLOSED = 'it closed the connection without an answer: check that this is the address of an MCP server'
const NO_MCP = 'what answers there is not an MCP server: check the path of its address, which often ends in /mcp'

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address: start the server, or check host and port',
  ENOTFOUND: NOT_FOUND,
  EAI_AGAIN: NOT_FOUND,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ETIMEDOUT: NO_TIME,
  UND_ERR_CONNECT_TIMEOUT: NO_TIME,
  ECONNRESET: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not answer by TLS: its address may begin with http:// instead of https://',
}

/** Statuses that mean that something else is at the address. */
const ELSEWHERE = new Set([404, 405, 410])

/**
 * A sentence without its first word, for the person.
 * @param isKnown whether the server has answered before, so that it is one. Default: false
 */
export function reasonOf(error: unknown, isKnown = false): string {
  const chain = causes(error)
  const { message } = chain[0] as Error
  const { status } = error as { readonly status?: unknown }
  if (status === 401 || status === 403)
    return `it answered with HTTP ${status} (log in with mulligan mcp login, or pass its key in a header): ${message}`
  if (typeof status === 'number')
    return `it answered with HTTP ${status}: ${ELSEWHERE.has(status) && !isKnown ? NO_MCP : isProbe(message) ? 'try again later' : message}`
  const codes = chain.map(({ code }) => String(code))
  const known = codes.map((code) => BY_CODE[code]).find((one) => one !== undefined)
  if (known !== undefined) return known
  const certificate = codes.find((code) => /CERT|SIGNATURE/.test(code))
  if (certificate !== undefined)
    return `its TLS certificate is not valid here (${certificate}): NODE_EXTRA_CA_CERTS names a file of further ones`
  // The details are those of the protocol's schema.
  if (isProbe(message) && chain.some(({ name, code }) => name === 'ZodError' || code === 'CLIENT_HTTP_UNEXPECTED_CONTENT')) return NO_MCP
  return chain.length > 1 ? `${withoutProbe(chain.at(-2)?.message)} (${chain.at(-1)?.message})` : withoutProbe(message)
}

type Failure = Error & { readonly code?: unknown }

/** The error and what caused it, at most five. */
function causes(error: unknown): readonly Failure[] {
  const chain: Failure[] = [error as Failure]
  for (let cause = chain[0]?.cause; cause instanceof Error && chain.length < 5; cause = cause.cause) chain.push(cause)
  return chain
}

/** The first request of the protocol's client, of which people need not know. */
const PROBE = /^Version negotiation (?:probe )?failed: /

const isProbe = (message: string): boolean => PROBE.test(message)

const withoutProbe = (message = ''): string => message.replace(PROBE, '')
