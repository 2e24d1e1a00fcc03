/** Test servers on this machine with scripted behaviour. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { temporary } from '../workspace.fixture.ts'

export interface Site {
  readonly port: number
  /** `127.0.0.1:port`, as `allowPrivate` expects it. */
  readonly host: string
  readonly url: (path?: string) => string
  /** Requested paths. */
  readonly hits: string[]
  readonly requests: IncomingMessage[]
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

const servers: (Server | TcpServer)[] = []
afterAll(() => {
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  }
})

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Starts a site with pages by path, each a body or a handler. Everything else is 404. */
export async function site(
  pages: Readonly<Record<string, string | Handler>>,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Site> {
  const hits: string[] = []
  const requests: IncomingMessage[] = []
  const answer: Handler = (request, response) => {
    hits.push(request.url ?? '')
    requests.push(request)
    const page = pages[new URL(request.url ?? '/', 'http://x').pathname]
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(page ?? '<h1>Nothing here</h1>')
  }
  const port = await listen(tls ? createTlsServer(tls, answer) : createServer(answer))
  const host = `127.0.0.1:${port}`
  return { port, host, hits, requests, url: (path = '/') => `${tls ? 'https' : 'http'}://${host}${path}` }
}

/** Starts a raw TCP server that does not speak HTTP by itself. */
export async function wire(talk: (socket: Socket) => void): Promise<Site> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => talk(socket))
  })
  const host = `127.0.0.1:${await listen(server)}`
  return { port: Number(host.split(':')[1]), host, hits: [], requests: [], url: (path = '/') => `http://${host}${path}` }
}

/** Creates a handler that sends one body with these headers. */
export const sends =
  (body: string | Uint8Array, headers: Readonly<Record<string, string>> = { 'content-type': 'text/html' }, status = 200): Handler =>
  (_, response) =>
    void response.writeHead(status, headers).end(body)

export const redirects = (to: string, status = 302): Handler => sends('', { location: to }, status)

/** Creates a self-signed certificate. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const dir = temporary()
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    cert,
  ]
  execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}
