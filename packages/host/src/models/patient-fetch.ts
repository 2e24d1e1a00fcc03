/**
 * `fetch` for local models. A model may take many minutes to load and to read a long prompt, and the server sends nothing meanwhile; the
 * built-in `fetch` gives up after 300 s. This one waits until its signal is aborted. It does not follow redirects or use compression, and
 * fails with a `TypeError` with a cause, as the built-in one does.
 */
import { lookup } from 'node:dns'
import type { Agent, IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { isLocalhostName, isLoopbackAddress } from './base-url.ts'

/** Milliseconds between keep-alive probes of an idle connection, to notice when the server is gone. */
const PROBE_EVERY = 60_000
/**
 * Milliseconds for which an idle connection is kept for the next request: less than the 2 to 5 s after which the servers of local models
 * close it. A request that meets a server just as it closes fails, as any broken connection does: it can't be known whether it was begun.
 */
const KEPT = 1500
const agents = new Map<string, Agent>()
const WITHOUT_BODY = new Set([204, 205, 304])

export const patientFetch: typeof fetch = async (input, init = {}) => {
  if (typeof input !== 'string' && !(input instanceof URL)) throw new TypeError('give the address and the options, not a Request')
  const { method = 'GET', headers, body, signal } = init
  if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('give the body as text or bytes')
  signal?.throwIfAborted()
  const url = new URL(input)
  // Importing `node:http` would also load everything Node needs for `fetch` and `WebSocket`.
  const { request: send, Agent: NewAgent } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const agent = agents.get(url.protocol) ?? new NewAgent({ keepAlive: true, timeout: KEPT, scheduling: 'lifo' })
  agents.set(url.protocol, agent)
  const sent = { ...plainHeaders(headers), 'accept-encoding': 'identity' }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers: sent, agent, ...(isLocalhostName(url.hostname) && { lookup: loopbackLookup() }) }
    const request = send(url, { ...options, ...(signal && { signal }) }, resolve)
    request.on('socket', (socket) => socket.setKeepAlive(true, PROBE_EVERY))
    request.on('error', (error) => reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause: error })))
    // Accessing `Response` loads it. That takes as long as everything else before the request, so do it while the model computes.
    request.on('finish', () => void Reflect.get(globalThis, 'Response'))
    request.end(body ?? undefined)
  })
  const { statusCode: status = 0, statusMessage: statusText = '' } = response
  const received = new Headers()
  for (let at = 0; at + 1 < response.rawHeaders.length; at += 2)
    received.append(String(response.rawHeaders[at]), String(response.rawHeaders[at + 1]))
  if (WITHOUT_BODY.has(status)) response.resume()
  return new Response(WITHOUT_BODY.has(status) ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>), {
    status,
    statusText,
    headers: received,
  })
}

/** Lower-cases names and trims values as `Headers` does, without loading it. */
function plainHeaders(headers: RequestInit['headers'] = {}): Record<string, string> {
  const entries = Symbol.iterator in headers ? [...(headers as Iterable<[string, string]>)] : Object.entries(headers)
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')]))
}

/** Resolves `localhost` only to loopback addresses, whatever a name server says. */
export const loopbackLookup =
  (resolve: typeof lookup = lookup): LookupFunction =>
  (host, options, done) =>
    resolve(host, { ...options, all: true }, (error, found) => {
      const here = (found ?? []).filter(({ address }) => isLoopbackAddress(address))
      const [first] = here
      if (error || !first) done(error ?? Object.assign(new Error(`${host} is not this machine`), { code: 'ENOTFOUND' }), '')
      else if (options.all) done(null, here)
      else done(null, first.address, first.family)
    })
