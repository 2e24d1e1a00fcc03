/** Everything on a machine that a command could communicate with: TCP, UDP and unix sockets, and a pipe. */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { connect, createServer, type ListenOptions, type NetConnectOpts } from 'node:net'
import { join } from 'node:path'

export interface Listeners {
  /** Loopback port for TCP and UDP. */
  readonly port: number
  /** Name of an abstract unix socket. */
  readonly abstract: string
  /** Returns the listeners reached since the last call. */
  readonly reached: () => Promise<readonly string[]>
  readonly close: () => void
}

/** Starts the listeners, with a `server.sock` in both folders and a `pipe` in the workspace. */
export async function listen(workspace: string, beside: string): Promise<Listeners> {
  const abstract = `mulligan-range-${process.pid}-${Math.random().toString(36).slice(2)}`
  const tcp = await counting('TCP', { host: '127.0.0.1', port: 0 })
  const { port } = tcp.server.address() as { port: number }
  const unix = await Promise.all([
    counting('a unix socket in the workspace', { path: join(workspace, 'server.sock') }),
    counting('a unix socket', { path: join(beside, 'server.sock') }),
    counting('an abstract unix socket', { path: `\0${abstract}` }),
  ])
  const servers = [{ ...tcp, to: { host: '127.0.0.1', port } }, ...unix]
  const udp = createSocket('udp4').bind(port, '127.0.0.1')
  await once(udp, 'listening')
  const messages: string[] = []
  udp.on('message', (bytes) => messages.push(bytes.toString()))
  const pipe = join(workspace, 'pipe')
  execFileSync('mkfifo', [pipe])
  const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  let asked = 0
  return {
    port,
    abstract,
    reached: async () => {
      // Data is received in order, so once ours has arrived, the script's has too.
      await Promise.all(servers.map((one) => one.caughtUp()))
      const mine = `mine ${asked++}`
      udp.send(mine, port, '127.0.0.1')
      while (!messages.includes(mine)) await once(udp, 'message')
      const others = messages.splice(0).some((one) => !one.startsWith('mine '))
      return [
        ...servers.flatMap(({ name, take }) => (take() > 0 ? [name] : [])),
        ...(others ? ['UDP'] : []),
        ...(drained(end) ? ['a pipe in the workspace'] : []),
      ]
    },
    close: () => {
      for (const { server } of servers) server.close()
      udp.close()
      closeSync(end)
    },
  }
}

async function counting(name: string, where: ListenOptions & NetConnectOpts) {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.on('error', () => undefined).destroy()
  })
  await new Promise<void>((resolve) => server.listen(where, resolve))
  const to: NetConnectOpts = where.path === undefined ? { ...where, port: (server.address() as { port: number }).port } : where
  return {
    name,
    server,
    caughtUp: async () => {
      const found = await new Promise<boolean>((resolve) =>
        connect(to)
          .resume()
          .on('error', () => resolve(false))
          .on('close', () => resolve(true)),
      )
      if (found) count--
    },
    take: () => {
      const others = count
      count = 0
      return others
    },
  }
}

function drained(end: number): boolean {
  try {
    return readSync(end, Buffer.alloc(65_536)) > 0
  } catch {
    return false
  }
}
