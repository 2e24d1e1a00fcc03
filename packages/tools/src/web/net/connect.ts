/** Connections whose address is checked, pinned, and checked again once it is there. */
import { lookup as dnsLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { ToolFailure } from '@mulligan/core'
import type { Agent, buildConnector } from 'undici'
import { type Guard, originOf } from './guard.ts'

export interface Address {
  readonly address: string
  readonly family: number
}

/** All addresses of a name. Asked once per connection. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>

export const systemLookup: Lookup = (hostname) => dnsLookup(hostname, { all: true })

/** Seconds until a connection, TLS included, must stand. */
const CONNECT_SECONDS = 10
/** Bytes of headers; more end the request. */
const MAX_HEADER_BYTES = 64 * 1024

export const refusal = (reason: string, more = ''): ToolFailure =>
  new ToolFailure(`Only public web pages are fetched, and ${reason}.${more}`, {
    errorType: 'permission',
    parameter: 'url',
    constraint: 'a page of the public internet',
  })

/**
 * An agent for one call. No name is resolved but by `lookup`, and what is connected to is one of the addresses that
 * were checked: between check and use nothing is asked again. Proxy variables of the environment play no part.
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
      // Of a literal address no lookup is made.
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

/** `lookup` as sockets want it, leaving only addresses that may be connected to. */
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
