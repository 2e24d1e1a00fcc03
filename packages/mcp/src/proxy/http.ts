/** A server that is reached by Streamable HTTP. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Id, messageOf } from './messages.ts'
import type { OpenServer } from './server.ts'

export interface HttpOptions {
  readonly url: string
  /** Headers of every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The connection failed before the request could have arrived. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** @returns a function that opens a session */
export function httpServer({ url, headers = {} }: HttpOptions): OpenServer {
  return (events) => {
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } })
    const started = transport.start()
    transport.onmessage = (message) => {
      const { result } = message as { readonly result?: { readonly protocolVersion?: unknown } }
      if (typeof result?.protocolVersion === 'string') transport.setProtocolVersion?.(result.protocolVersion)
      events.line(JSON.stringify(message))
    }
    transport.onclose = () => events.closed('the connection was closed')
    async function post(line: string, id: Id | undefined): Promise<void> {
      try {
        await started
        await transport.send(JSON.parse(line))
      } catch (error) {
        const why = reasonOf(error)
        if (id !== undefined) events.lost(id, why, UNSENT.has(codeOf(error)))
        // The server has forgotten the session: a new one is opened.
        if ((error as { readonly status?: unknown }).status === 404 || /\b404\b/.test(why)) void transport.close()
      }
    }
    return {
      send(line) {
        const message = messageOf(JSON.parse(line))
        void post(line, message.kind === 'request' ? message.id : undefined)
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

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}
