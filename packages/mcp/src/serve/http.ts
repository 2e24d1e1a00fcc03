/** Serves tools of the engine to MCP clients on this machine, by Streamable HTTP at a loopback address. */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type Server,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { ServedTools } from './serve.ts'
import { createToolServer, type ToolServerOptions } from './tool-server.ts'

export interface HttpServeOptions extends ToolServerOptions {
  /** What each request has to send as `Authorization: Bearer …`. */
  readonly token: string
  /** Default: a free one. */
  readonly port?: number
  readonly onError?: (error: Error) => void
}

export interface ServedOverHttp extends ServedTools {
  readonly url: string
}

const PATH = '/mcp'
/** Bytes of a request. */
const MAX_BODY = 4 * 1024 * 1024
/** Sessions of clients with the protocol's older versions; the oldest are ended. */
const MAX_SESSIONS = 100
/** Milliseconds in which a request has to arrive. */
const ARRIVAL = 30_000

/** @throws Error with the code `EADDRINUSE` if the port is taken */
export async function serveToolsHttp({ token, port = 0, onError, ...options }: HttpServeOptions): Promise<ServedOverHttp> {
  const create = createToolServer(options)
  const errors = onError ? { onerror: onError } : {}
  const modern = createMcpHandler(() => create(), { legacy: 'reject', maxRequestBodySize: MAX_BODY, ...errors })
  const legacy = legacySessions(create)
  const handle = toNodeHandler(
    { fetch: async (request, how) => ((await isLegacyRequest(request.clone())) ? legacy.fetch(request) : modern.fetch(request, how)) },
    { maxRequestBodySize: MAX_BODY, ...errors },
  )
  const isRight = tokenCheck(token)
  const server = createServer({ requestTimeout: ARRIVAL, headersTimeout: ARRIVAL }, (request, response) => {
    const refused = refusalOf(request, isRight)
    if (refused) refuse(response, ...refused)
    else void handle(request as Parameters<typeof handle>[0], response as Parameters<typeof handle>[1])
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const gone = Promise.withResolvers<void>()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    closed: gone.promise,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.allSettled([modern.close(), legacy.close()])
      server.closeAllConnections()
      await closed
      gone.resolve()
    },
  }
}

/** A page in a browser can reach a loopback address, also under a name of its own: it has neither the right host, origin nor token. */
function refusalOf(
  { headers, url = '' }: IncomingMessage,
  isRight: (given: string) => boolean,
): [status: number, says: string] | undefined {
  const host = validateHostHeader(headers.host, localhostAllowedHostnames())
  if (!host.ok) return [403, host.message]
  const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins())
  if (!origin.ok) return [403, origin.message]
  if (!isRight(/^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')) return [401, 'The token is missing or wrong.']
  if (Number(headers['content-length'] ?? 0) > MAX_BODY) return [413, `A request has at most ${MAX_BODY} bytes.`]
  return URL.parse(url, 'http://127.0.0.1')?.pathname === PATH ? undefined : [404, `The address ends in ${PATH}.`]
}

function refuse(response: ServerResponse, status: number, says: string): void {
  response
    .writeHead(status, {
      ...{ 'content-type': 'application/json', connection: 'close' },
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    })
    .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: says } }))
}

/** Compares digests, in a time that says nothing about the token. */
function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const wanted = digest(token)
  return (given) => timingSafeEqual(digest(given), wanted)
}

interface LegacySessions {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

/** Clients with versions up to 2025-11-25 have sessions, in which a server can ask questions. */
function legacySessions(create: () => Server): LegacySessions {
  const sessions = new Map<string, { readonly server: Server; readonly transport: WebStandardStreamableHTTPServerTransport }>()

  async function opened(): Promise<WebStandardStreamableHTTPServerTransport> {
    const server = create()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MAX_BODY,
      onsessioninitialized(id) {
        sessions.set(id, { server, transport })
        for (const [old, session] of [...sessions].slice(0, -MAX_SESSIONS)) {
          sessions.delete(old)
          void session.server.close()
        }
      },
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await server.connect(transport)
    return transport
  }

  return {
    async fetch(request) {
      const id = request.headers.get('mcp-session-id')
      const known = id === null ? undefined : sessions.get(id)
      if (known) return known.transport.handleRequest(request)
      if (id !== null) return answer(404, 'This session no longer exists. Initialize a new one.')
      const body: unknown =
        request.method === 'POST'
          ? await request
              .clone()
              .json()
              .catch(() => undefined)
          : undefined
      if (!isInitializeRequest(body)) return answer(400, 'There is no session yet. Send initialize first.')
      return (await opened()).handleRequest(request)
    },
    async close() {
      await Promise.allSettled([...sessions.values()].map(({ server }) => server.close()))
    },
  }
}

const answer = (status: number, says: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message: says } }, { status })
