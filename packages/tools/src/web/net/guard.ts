/** Decides what may be requested: rules for URLs and for the addresses that connections go to. */

import { isIP } from 'node:net'
import ip from 'ipaddr.js'

/** Each method returns the reason for a refusal as a clause, such as "127.0.0.1 is a loopback address", or undefined. */
export interface Guard {
  /** Called before each request, including redirects. */
  readonly url: (url: URL) => string | undefined
  /** Called for each address a name resolves to, and for the one a connection reached. `origin` is `host:port`. */
  readonly address: (address: string, origin: string) => string | undefined
}

/** Names that are always local. Other names are checked when they are resolved. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/

/** Returns `host:port` in normalised form, always with a port. */
export const originOf = ({ hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>): string =>
  `${bareHost(hostname)}:${port || (protocol === 'https:' ? 443 : 80)}`

/** Removes brackets and a trailing dot. */
const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()

/**
 * Creates a guard that allows only the public internet, plus listed origins.
 *
 * @param allowPrivate exact `host:port` entries: `127.0.0.1:8080`, `wiki.intranet:80`, `[::1]:3000`
 * @throws TypeError for an entry that is not a `host:port`
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

type IPv4 = ReturnType<typeof ip.IPv4.parse>
type IPv6 = ReturnType<typeof ip.IPv6.parse>

/** Addresses in public ranges that are nevertheless a cloud's internal services. */
const METADATA: readonly string[] = ['168.63.129.16']
const NAT64 = '64:ff9b::/96'
/** All addresses allocated so far; the rest of the space is reserved or has a special use. */
const GLOBAL = '2000::/3'
const isIn = (address: IPv6, range: string): boolean => address.match(ip.IPv6.parseCIDR(range))

/**
 * Returns why an address is refused, as a phrase such as "a loopback address": it belongs to this machine, its network or a cloud's
 * metadata service. Returns undefined for a public address. Addresses that contain an IPv4 address (mapped, NAT64, 6to4, Teredo) are
 * classified by that address.
 */
export function notPublic(address: string): string | undefined {
  if (!ip.isValid(address)) return 'no address'
  // The parser takes these (IPv4-compatible, long deprecated) for mapped addresses.
  if (/^::\d+\.[\d.]+$/.test(address)) return phrase('reserved')
  const parsed = ip.process(address)
  return parsed.kind() === 'ipv4' ? notPublic4(parsed as IPv4) : notPublic6(parsed as IPv6)
}

function notPublic4(address: IPv4): string | undefined {
  if (METADATA.includes(address.toString())) return 'a metadata address'
  const range = address.range()
  return range === 'unicast' ? undefined : phrase(range)
}

function notPublic6(address: IPv6): string | undefined {
  const inner = embedded(address)
  if (inner) return inner.map(notPublic4).find((why) => why !== undefined)
  const range = address.range()
  if (range !== 'unicast') return phrase(range)
  return isIn(address, GLOBAL) ? undefined : 'a reserved address'
}

/** Returns the IPv4 addresses that packets to an IPv6 address end up at. */
function embedded(address: IPv6): readonly IPv4[] | undefined {
  const bytes = address.toByteArray()
  const at = (from: number, mask = 0): IPv4 => new ip.IPv4(bytes.slice(from, from + 4).map((byte) => byte ^ mask))
  if (isIn(address, NAT64)) return [at(12)]
  if (address.range() === '6to4') return [at(2)]
  // The server's address and the client's; the client's is stored with its bits inverted.
  if (address.range() === 'teredo') return [at(4), at(12, 0xff)]
  return undefined
}

const NAMES: Readonly<Record<string, string>> = {
  private: 'a private address',
  uniqueLocal: 'a private address',
  loopback: 'a loopback address',
  linkLocal: 'a link-local address',
  unspecified: 'this machine itself',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  carrierGradeNat: "an address of a provider's inner network",
}

const phrase = (range: string): string => NAMES[range] ?? 'a reserved address'

/** Ports of other protocols, which an HTTP request could be abused to talk to: https://fetch.spec.whatwg.org/#port-blocking */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
  989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080, 11211,
])
