/** Carries the messages of the protocol's client over lines of a process. */
import type { Transport } from '@modelcontextprotocol/client'
import type { OpenServer, ServerConnection } from '../proxy/server.ts'

/** @param onEnd receives the reason why the process ended */
export function lineTransport(open: OpenServer, onEnd: (why: string) => void): Transport {
  let connection: ServerConnection | undefined
  /** The server has not said anything yet. */
  let isNew = true
  // By `pid` and `stderr` the client knows that silence is not an outage, but an older server.
  const transport: Transport & { readonly pid: null; readonly stderr: null } = {
    ...{ pid: null, stderr: null },
    async start() {
      connection = open({
        line(line) {
          isNew = false
          try {
            transport.onmessage?.(JSON.parse(line))
          } catch {
            transport.onerror?.(new Error(`a line that is not a message: ${line.slice(0, 80)}`))
          }
        },
        long: ({ bytes }) => transport.onerror?.(new Error(`a line of ${bytes} bytes`)),
        lost: (_, why) => transport.onerror?.(new Error(why)),
        closed(why) {
          onEnd(why)
          transport.onclose?.()
        },
      })
    },
    async send(message) {
      connection?.send(JSON.stringify(message))
    },
    async close() {
      await connection?.close(isNew)
    },
  }
  return transport
}
