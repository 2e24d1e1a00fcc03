/** Makes connections to checked addresses only: an address is checked and pinned, then checked again once connected. */
import { lookup as dnsLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { ToolFailure } from '@mulligan/core'
import type { Agent, buildConnector } from 'undici'
import { type Guard, originOf } from './guard.ts'

interface Address {
  readonly address: string
  readonly family: number
}

/** Resolves a name to all its addresses. Called once per connection. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>

export const systemLookup: Lookup = (hostname) => dnsLookup(hostname, { all: true })

/** Seconds to establish a connection, including TLS. */
const CONNECT_SECONDS = 10
/** Bytes of headers; a request with more is aborted. */
const MAX_HEADER_BYTES = 64 * 1024

export const refusal = (reason: string, more = ''): ToolFailure =>
  new ToolFailure(`Only public web pages are fetched, and ${reason}.${more}`, {
    errorType: 'permission',
    parameter: 'url',
    constraint: 'a page of the public internet',
  })

/**
 * Creates an agent for one call. Names are resolved only by `lookup`, and connections go only to one of the checked addresses, with no
 * further lookup between check and use. Proxy environment variables are ignored.
 */
export async function guardedAgent(guard: Guard, lookup: Lookup): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici')
  const connectFor = (origin: string): buildConnector.connector =>
    buildConnector({ timeout: CONNECT_SECONDS * 1000, maxCachedSessions: 0, lookup: checkedLookup(guard, lookup, origin) })

  return new Agent({
    pipelining: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: (options, done) => {
      const origin = originOf(options)
      // There is no lookup for a literal address.
      const reason = isIP(options.hostname) === 0 ? undefined : guard.address(options.hostname, origin)
      if (reason) return done(refusal(reason), null)
      connectFor(origin)(options, (error, socket) => {
        if (!socket) return done(error ?? new Error('no socket'), null)
        const there = guard.address(socket.remoteAddress ?? '', origin)
        if (!there) return done(null, socket)
        socket.destroy()
        done(refusal(there), null)
      })
    },
  })
}

/** Adapts `lookup` for sockets, keeping only addresses that may be connected to. */
function checkedLookup(guard: Guard, lookup: Lookup, origin: string): LookupFunction {
  const resolve = async (hostname: string): Promise<Address[]> => {
    const found = await lookup(hostname)
    if (found.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    const usable = found.filter(({ address }) => guard.address(address, origin) === undefined)
    if (usable.length === 0) throw refusal(guard.address(found[0]?.address ?? '', origin) ?? 'it has no address')
    return usable
  }
  return (hostname, { all }, done) => {
    resolve(hostname).then(
      (addresses) => (all ? done(null, addresses) : done(null, addresses[0]?.address ?? '', addresses[0]?.family)),
      (error: NodeJS.ErrnoException) => done(error, []),
    )
  }
}
