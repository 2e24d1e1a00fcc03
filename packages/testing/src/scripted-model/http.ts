/** The HTTP server: listens, sends replies, and notices clients that disconnect. */
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from './reply.ts'

/** Starts a server on a free port of 127.0.0.1. `handle` is called in order of arrival and answers with {@link send}. */
export async function listen(handle: RequestListener) {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Also ends open connections. */
    close: async (): Promise<void> => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Sends a reply. Resolves when the connection is finished: `true` if the client disconnected before the end. */
export async function send(response: ServerResponse, reply: Reply): Promise<boolean> {
  if (response.destroyed) return true
  const closed = new AbortController()
  const gone = new Promise<void>((resolve) => response.once('close', resolve))
  response.once('close', () => closed.abort())
  // Writing to a connection that is closing emits an error; `close` follows.
  response.on('error', () => undefined)
  await write(response, reply, closed.signal)
  const left = closed.signal.aborted
  if (!left && reply.end === 'end') response.end()
  // Unlike destroy, destroySoon first sends what was written.
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
