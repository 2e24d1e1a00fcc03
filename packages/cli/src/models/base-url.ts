import { UsageError } from '../exit.ts'

/** What people paste when they copy the address of a request. */
const ENDPOINT = /\/(?:chat\/completions|messages|models)$/

/**
 * A base URL as the clients want it: without a slash at its end, with `/v1` where it has no path.
 * @throws UsageError
 */
export function normalBaseUrl(given: string): string {
  const hint = 'A base URL looks like http://localhost:8080/v1'
  if (!URL.canParse(given)) throw new UsageError(`the base URL ${JSON.stringify(given)} is no URL`, hint)
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new UsageError(`the base URL must begin with http:// or https://, not ${url.protocol}`, hint)
  if (url.username || url.password)
    throw new UsageError('the base URL holds a name or password', 'Put the key in MULLIGAN_API_KEY instead.')
  const path = url.pathname.replace(/\/+$/, '').replace(ENDPOINT, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}

export const HERE = 'this machine'

/** For the person: "this machine", or the host. */
export function whereRuns(baseUrl: string): string {
  const host = new URL(baseUrl).hostname
  const loopback = host === 'localhost' || host.endsWith('.localhost') || /^127\./.test(host) || host === '[::1]' || host === '0.0.0.0'
  return loopback ? HERE : host
}

/** On this machine or in the same network, as far as its name tells. */
export function isNear(url: string): boolean {
  const host = new URL(url).hostname
  return (
    whereRuns(url) === HERE ||
    !host.includes('.') ||
    /^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)\./.test(host) ||
    /\.(?:local|lan|internal|home\.arpa)$/.test(host)
  )
}
