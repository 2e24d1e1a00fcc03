/** Serves tools of the engine to an MCP client on stdin and stdout. */
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createToolServer, type ToolServerOptions } from './tool-server.ts'

export interface ServeOptions extends ToolServerOptions {
  /** Where messages are read from. Default: stdin. */
  readonly stdin?: Readable
  /** Where messages are written. Default: stdout. */
  readonly stdout?: Writable
  readonly onError?: (error: Error) => void
}

export interface ServedTools {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

export function serveTools({ stdin, stdout, onError, ...options }: ServeOptions): ServedTools {
  const gone = Promise.withResolvers<void>()
  const create = createToolServer(options)
  const server = (): ReturnType<typeof create> => Object.assign(create(), { onclose: gone.resolve })
  const handle = serveStdio(server, { transport: new StdioServerTransport(stdin, stdout), ...(onError && { onerror: onError }) })
  return {
    closed: gone.promise,
    async close() {
      await handle.close()
      gone.resolve()
    },
  }
}
