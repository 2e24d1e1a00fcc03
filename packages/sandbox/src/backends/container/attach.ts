/**
 * The connection to a container's stdin and output. Not by dockerode: it sends its options as a body, which podman hands to the
 * container as the first line of stdin.
 */
import { request } from 'node:http'
import type { Socket } from 'node:net'

const QUERY = 'stream=1&stdin=1&stdout=1&stderr=1'

/** @param socket of the engine @throws Error with what the engine says */
export function attach(socket: string, id: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const asked = request({
      socketPath: socket,
      method: 'POST',
      path: `/containers/${id}/attach?${QUERY}`,
      headers: { Connection: 'Upgrade', Upgrade: 'tcp', 'Content-Length': 0 },
    })
    asked.once('error', reject)
    asked.once('upgrade', (_response, connection, head) => {
      if (head.length > 0) connection.unshift(head)
      resolve(connection as Socket)
    })
    asked.once('response', (response) => {
      let said = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      response.once('end', () => reject(new Error(`attaching was answered with ${response.statusCode}: ${said.trim()}`)))
    })
    asked.end()
  })
}
