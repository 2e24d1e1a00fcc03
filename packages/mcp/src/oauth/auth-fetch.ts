/** The requests of a login. */
import type { FetchLike } from '@modelcontextprotocol/client'

/** Milliseconds to wait for an answer. */
const TIMEOUT = 20_000

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

/** Whether credentials may be sent there: encrypted, or without leaving this machine. */
export const isSafe = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))

/**
 * Refuses addresses at which somebody could listen, and services of this machine that a server elsewhere names.
 * @param server the MCP server's address
 */
export function authFetch(server: string): FetchLike {
  const isLocal = isLoopback(new URL(server).hostname)
  return (address, init) => {
    const url = new URL(address)
    if (!isSafe(url) || (isLoopback(url.hostname) && !isLocal))
      throw new Error(`${url.origin} can't be used for a login: it must have https`)
    const timeout = AbortSignal.timeout(TIMEOUT)
    // Where a redirect leads is checked neither by these rules nor by the person.
    return fetch(url, { redirect: 'manual', ...init, signal: init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout })
  }
}
