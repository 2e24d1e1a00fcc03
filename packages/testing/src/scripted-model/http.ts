/** The socket side: listening, reading a body, sending a reply and noticing who went away. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from './reply.ts'

/** A server on a free port of 127.0.0.1. */
export interface Listener {
  /** Without a slash at its end. */
  readonly origin: string
  /** Ends open connections too. */
  readonly close: () => Promise<void>
}

/** Serves until closed. `handle` is called in order of arrival and answers through {@link send}. */
export async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listener> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The whole body; `undefined` when the client went away before it had sent all. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString()
}

/** Headers with one value each. */
export function plainHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = String(value)
  return headers
}

/** Sends a reply. Resolves when the connection has nothing more to do with it; `true` when the client left before its end. */
export async function send(response: ServerResponse, reply: Reply): Promise<boolean> {
  if (response.destroyed) return true
  const closed = new AbortController()
  const gone = new Promise<void>((resolve) => response.once('close', resolve))
  response.once('close', () => closed.abort())
  // a write to a connection that is just being closed; `close` says the rest
  response.on('error', () => undefined)
  await write(response, reply, closed.signal)
  const left = closed.signal.aborted
  if (!left && reply.end === 'end') response.end()
  // destroySoon sends first what was written; destroy could lose it
  if (!left && reply.end === 'cut') response.socket?.destroySoon()
  await gone
  return left || (reply.end !== 'cut' && !response.writableFinished)
}

async function write(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  if (reply.silent) return
  const { first, each } = reply.delay ?? { first: 0, each: 0 }
  response.writeHead(reply.status, { ...reply.headers })
  if (first === 0) response.flushHeaders()
  for (const [at, chunk] of reply.chunks.entries()) {
    const wait = at === 0 ? first : each
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    if (!response.write(chunk)) await once(response, 'drain', { signal }).catch(() => undefined)
  }
}
