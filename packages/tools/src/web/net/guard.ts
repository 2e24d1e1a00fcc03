/** What may be asked for: the rules for a URL, and for the address that a connection goes to. */
import { isIP } from 'node:net'
import { notPublic } from './address.ts'
import { BAD_PORTS } from './ports.ts'

/** Each gives the reason for a refusal, as a clause: "127.0.0.1 is a loopback address". */
export interface Guard {
  /** Asked before each request, of redirects too. */
  readonly url: (url: URL) => string | undefined
  /** Asked of each address that a name resolves to, and of the one a connection has come to. `origin` is `host:port`. */
  readonly address: (address: string, origin: string) => string | undefined
}

/** Names that never lead out; what any other name leads to is seen when it is resolved. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/

/** `host:port` in one spelling. The port is always there. */
export const originOf = ({ hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>): string =>
  `${bareHost(hostname)}:${port || (protocol === 'https:' ? 443 : 80)}`

/** Without brackets and the dot of the root. */
const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()

/**
 * Only the public internet, and what is allowed by name.
 *
 * @param allowPrivate `host:port`, exactly: `127.0.0.1:8080`, `wiki.intranet:80`, `[::1]:3000`
 * @throws TypeError for an entry that is no `host:port`
 */
export function publicOnly(allowPrivate: readonly string[] = []): Guard {
  const allowed = new Set(allowPrivate.map(allowedOrigin))
  return {
    url(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${url.protocol} is neither http: nor https:`
      if (url.username !== '' || url.password !== '') return 'it has a user name or password in it'
      const origin = originOf(url)
      if (allowed.has(origin)) return undefined
      if (BAD_PORTS.has(Number(url.port || 80))) return `port ${url.port} is not for web pages`
      const host = bareHost(url.hostname)
      if (LOCAL_NAME.test(host)) return `${host} is a name of this machine or its network`
      const why = isIP(host) === 0 ? undefined : notPublic(host)
      return why && `${host} is ${why}`
    },
    address(address, origin) {
      if (allowed.has(origin)) return undefined
      const why = notPublic(address)
      return why && `${origin.replace(/:\d+$/, '')} leads to ${why}`
    },
  }
}

function allowedOrigin(entry: string): string {
  const url = /^[^/?#@*\s]+:\d{1,5}$/.test(entry) ? URL.parse(`http://${entry}`) : null
  if (!url) throw new TypeError(`allowPrivate takes host:port, such as "127.0.0.1:8080", not ${JSON.stringify(entry)}`)
  return originOf(url)
}
