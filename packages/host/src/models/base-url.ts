import { BlockList, isIP } from 'node:net'
import { UsageError } from '../common/errors.ts'

/** Endpoints that people paste when they copy the address of a request. */
const ENDPOINT = /\/(?:chat\/completions|messages|models)$/

/**
 * Normalizes a base URL for the clients: removes a trailing slash, and adds `/v1` if there is no path.
 * @throws UsageError
 */
export function normalBaseUrl(given: string): string {
  const hint = 'A base URL looks like http://localhost:8080/v1'
  if (!URL.canParse(given)) throw new UsageError(`the base URL ${JSON.stringify(given)} is not a valid URL`, hint)
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new UsageError(`the base URL must begin with http:// or https://, not ${url.protocol}`, hint)
  if (url.username || url.password)
    throw new UsageError('the base URL contains a user name or password', 'Put the key in MULLIGAN_API_KEY instead.')
  const path = url.pathname.replace(/\/+$/, '').replace(ENDPOINT, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}

export const HERE = 'this machine'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether it is a loopback IP address, also an IPv4 one written as IPv6. Names do not count. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Whether a URL can only lead to this machine: its host, as parsed by the URL parser, which the connection uses too, is a loopback address
 * or exactly `localhost`, for which connections are made only to loopback addresses. Other names resolve to whatever their owner chooses.
 */
export function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const host = new URL(url).hostname
  return host === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'))
}

/**
 * Whether the host is `localhost` or a name below it, which RFC 6761 defines as this machine. `patientFetch` connects them only to loopback
 * addresses.
 */
export const isLocalhostName = (host: string): boolean => /(?:^|\.)localhost$/.test(host)

/** Addresses that a server configured to listen on every interface may give as its own. */
const EVERYWHERE = new Set(['0.0.0.0', '[::]'])

/** Returns "this machine" or the host, for display. */
export function whereRuns(baseUrl: string): string {
  const host = new URL(baseUrl).hostname
  return isLoopbackUrl(baseUrl) || isLocalhostName(host) || EVERYWHERE.has(host) ? HERE : host
}

/** Whether the server is on this machine or in the local network, as far as its name tells. */
export function isNear(url: string): boolean {
  const host = new URL(url).hostname
  return (
    whereRuns(url) === HERE ||
    !host.includes('.') ||
    (isIP(host) === 4 && /^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)\./.test(host)) ||
    /\.(?:local|lan|internal|home\.arpa)$/.test(host)
  )
}
