/**
 * Limits connections that have not shown the token. Whoever opens more than the limit, and sends slowly, displaces the oldest of them: a
 * client that sends its request at once is always answered.
 */
import type { Socket } from 'node:net'

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>

export interface Strangers {
  /** Takes a new connection. */
  readonly met: (socket: Socket) => void
  /** The connection has shown the token: it does not count any more. */
  readonly known: (socket: Peer | undefined) => void
}

/** @param max connections without a token that may be open at once */
export function limitStrangers(max: number): Strangers {
  /** In the order in which they were opened, by peer: with TLS, a request has another socket than its connection. */
  const open = new Map<string, Socket>()
  return {
    met: (socket) => {
      const peer = peerOf(socket)
      open.set(peer, socket)
      socket.once('close', () => open.get(peer) === socket && open.delete(peer))
      const [oldest] = open
      if (open.size <= max || !oldest) return
      open.delete(oldest[0])
      oldest[1].destroy()
    },
    known: (socket) => void (socket && open.delete(peerOf(socket))),
  }
}

const peerOf = ({ remoteAddress, remotePort }: Peer): string => `${remoteAddress} ${remotePort}`
