/** A server that is reached by Streamable HTTP. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { LoginNeeded, TokenFailed } from '../oauth/errors.ts'
import type { TokenSource } from '../oauth/token-source.ts'
import { type Id, idKey, messageOf } from './messages.ts'
import { reasonOf } from './reason.ts'
import type { OpenServer } from './server.ts'

export interface HttpOptions {
  readonly url: string
  /** Headers of every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Tokens of a login. */
  readonly auth?: TokenSource | undefined
}

/** The connection failed before the request could have arrived. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** @returns a function that opens a session */
export function httpServer({ url, headers = {}, auth }: HttpOptions): OpenServer {
  return (events) => {
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      ...(auth && { authProvider: auth, fetch: auth.fetch, onInsufficientScope: 'throw' as const }),
    })
    const started = transport.start()
    transport.onmessage = (message) => {
      const { result } = message as { readonly result?: { readonly protocolVersion?: unknown } }
      if (typeof result?.protocolVersion === 'string') transport.setProtocolVersion?.(result.protocolVersion)
      if ('id' in message && !('method' in message)) open.delete(idKey(message.id as Id))
      events.line(JSON.stringify(message))
    }
    transport.onclose = () => events.closed('the connection was closed')
    /** Requests whose answer may still come. From protocol version 2026-07-28 on, one is cancelled by closing its stream. */
    const open = new Map<string, AbortController>()
    async function post(line: string, id: Id | undefined): Promise<void> {
      const stream = new AbortController()
      if (id !== undefined) open.set(idKey(id), stream)
      try {
        await started
        await transport.send(JSON.parse(line), { requestSignal: stream.signal })
      } catch (error) {
        const why = reasonOf(error, transport.sessionId !== undefined)
        if (id !== undefined && !stream.signal.aborted)
          events.lost(id, why, error instanceof LoginNeeded || error instanceof TokenFailed || UNSENT.has(codeOf(error)))
        // The server has forgotten the session: a new one is opened.
        if ((error as { readonly status?: unknown }).status === 404 || /\b404\b/.test(why)) void transport.close()
      }
    }
    return {
      send(line) {
        const message = messageOf(JSON.parse(line))
        void post(line, message.kind === 'request' ? message.id : undefined)
        if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
          const key = idKey(message.params['requestId'] as Id)
          open.get(key)?.abort()
          open.delete(key)
        }
      },
      async close() {
        await transport.terminateSession().catch(() => undefined)
        await transport.close()
      },
    }
  }
}

const codeOf = (error: unknown): string => {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  return String(cause?.code ?? code)
}
