import { BlockList, isIP } from 'node:net'
import { UsageError } from '../common/errors.ts'

/** What people paste when they copy the address of a request. */
const ENDPOINT = /\/(?:chat\/completions|messages|models)$/

/**
 * A base URL as the clients want it: without a slash at its end, with `/v1` where it has no path.
 * @throws UsageError
 */
export function normalBaseUrl(given: string): string {
  const hint = 'A base URL looks like http://localhost:8080/v1'
  if (!URL.canParse(given)) throw new UsageError(`the base URL ${JSON.stringify(given)} is not a valid URL`, hint)
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new UsageError(`the base URL must begin with http:// or https://, not ${url.protocol}`, hint)
  if (url.username || url.password)
    throw new UsageError('the base URL holds a name or password', 'Put the key in MULLIGAN_API_KEY instead.')
  const path = url.pathname.replace(/\/+$/, '').replace(ENDPOINT, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}

export const HERE = 'this machine'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** An IP address, also an IPv4 one written as IPv6. A name is not one. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Whether a URL can lead nowhere but to this machine: its host, as the URL parser reads it for the connection too, is a loopback
 * address or exactly `localhost`, for which only loopback addresses are connected to. Other names resolve to whatever their owner says.
 */
export function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const host = new URL(url).hostname
  return host === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'))
}

/** `localhost`, and the names below it, which are this machine by RFC 6761: `patientFetch` connects them to nowhere else. */
export const isLocalhostName = (host: string): boolean => /(?:^|\.)localhost$/.test(host)

/** A server that listens on every address is named like this by its own settings. */
const EVERYWHERE = new Set(['0.0.0.0', '[::]'])

/** For the person: "this machine", or the host. */
export function whereRuns(baseUrl: string): string {
  const host = new URL(baseUrl).hostname
  return isLoopbackUrl(baseUrl) || isLocalhostName(host) || EVERYWHERE.has(host) ? HERE : host
}

/** On this machine or in the same network, as far as its name tells. */
export function isNear(url: string): boolean {
  const host = new URL(url).hostname
  return (
    whereRuns(url) === HERE ||
    !host.includes('.') ||
    (isIP(host) === 4 && /^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)\./.test(host)) ||
    /\.(?:local|lan|internal|home\.arpa)$/.test(host)
  )
}
