/** Which addresses are of the public internet. Everything else is refused: this machine, its network, a cloud's metadata. */
import ip from 'ipaddr.js'

type IPv4 = ReturnType<typeof ip.IPv4.parse>
type IPv6 = ReturnType<typeof ip.IPv6.parse>

/** Public by their range, and yet a cloud's own services behind every machine. */
const METADATA: readonly string[] = ['168.63.129.16']
const NAT64 = ip.IPv6.parseCIDR('64:ff9b::/96')
/** All that is handed out so far; the rest of the space is reserved or has a special use. */
const GLOBAL = ip.IPv6.parseCIDR('2000::/3')

/**
 * Why an address is not one of the public internet, as a phrase ("a loopback address"); `undefined` for one that is.
 * Addresses that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) are what that one is.
 */
export function notPublic(address: string): string | undefined {
  if (!ip.isValid(address)) return 'no address'
  // The parser takes these (IPv4-compatible, long withdrawn) for mapped ones.
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
  return address.match(GLOBAL) ? undefined : 'a reserved address'
}

/** The IPv4 addresses that packets to an IPv6 address end up at. */
function embedded(address: IPv6): readonly IPv4[] | undefined {
  const bytes = address.toByteArray()
  const at = (from: number, mask = 0): IPv4 => new ip.IPv4(bytes.slice(from, from + 4).map((byte) => byte ^ mask))
  if (address.match(NAT64)) return [at(12)]
  if (address.range() === '6to4') return [at(2)]
  // Server and client; the client's is stored with its bits inverted.
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
