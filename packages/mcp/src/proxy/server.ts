/** What the proxy needs of a connection to a server. */
import type { LongLine } from './lines.ts'
import type { Id } from './messages.ts'

export interface ServerEvents {
  readonly line: (line: string) => void
  /** A line that is too long to be read. */
  readonly long: (line: LongLine) => void
  /** The answer to a request will not come, but the connection goes on. `unsent`: the server never saw the request. */
  readonly lost: (id: Id, why: string, unsent: boolean) => void
  /** The connection ended; nothing more follows. */
  readonly closed: (why: string) => void
}

export interface ServerConnection {
  readonly send: (line: string) => void
  /** Ends the connection and waits until nothing of it is left. @param now it has nothing to finish */
  readonly close: (now?: boolean) => Promise<void>
}

export type OpenServer = (events: ServerEvents) => ServerConnection
