/** Starts a server: opens the store, takes over turns that were interrupted, and listens. */
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { openStore, type Store } from '@mulligan/agent'
import { type Env, UsageError } from '@mulligan/host'
import { openDataDir } from '@mulligan/host/light'
import { fileLog, openStoreAt, readSettings } from '@mulligan/host/parts'
import { createApp } from './app.ts'
import { createHandlers } from './handlers.ts'
import { originOf } from './keys.ts'
import { createMetrics } from './metrics.ts'
import { createRunner } from './runner.ts'
import { isLoopback, reachedBy, shownHost, tokenIn } from './security.ts'
import { limitStrangers } from './strangers.ts'
import { createChat } from './ui-messages/chat.ts'

export interface ServeOptions {
  /** All variables that count; `HOME` and `MULLIGAN_DATA_DIR` say where data is kept. */
  readonly env: Env
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: 4711. 0 takes a free one. */
  readonly port?: number
  /** Default: the one in the data folder, which is made at the first start. */
  readonly token?: string
  /** A file, the address of a PostgreSQL database, or a store, which is closed with the server. Default: the user's store. */
  readonly store?: string | Store
  /** The folder of chats that name none. Default: such chats are refused. */
  readonly cwd?: string
  /** Further host names under which the server is reached. */
  readonly allowHosts?: readonly string[]
  /** Origins whose pages may use the API. */
  readonly allowOrigins?: readonly string[]
  /** Allows an address that others can reach without TLS. Default: false. */
  readonly isPublic?: boolean
  /** Certificate and private key, in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Milliseconds that a client has to send the headers of a request. Default: 10,000. */
  readonly slowMs?: number
  /** Milliseconds for which a question can be answered; after that it is asked again. Default: 30 days. */
  readonly askedFor?: number
  /** Connections without a token that may be open at once; more displace the oldest. Default: 4,000. */
  readonly maxStrangers?: number
  readonly version?: string
  /** Called with what the person should know. */
  readonly report?: (text: string) => void
}

export interface Server extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4711`. */
  readonly url: string
  readonly token: string
  /** Whether the token was made by this start. */
  readonly isNewToken: boolean
  /** Stops listening. Running turns have `grace` milliseconds to end (default: none), then they are left to the next server. */
  readonly close: (grace?: number) => Promise<void>
}

export const DEFAULT_PORT = 4711

/** Milliseconds that a client has to send the headers of a request. */
const SLOW = 10_000
/** Limits for clients that send slowly, in milliseconds. */
const limitsFor = (slow: number) => ({
  headersTimeout: slow,
  requestTimeout: 3 * slow,
  keepAliveTimeout: slow,
  connectionsCheckingInterval: slow / 5,
})
const MAX_HEADERS = 16_384
const MAX_STRANGERS = 4000

async function opened({ store, report = () => undefined }: ServeOptions, byDefault: () => Promise<Store>): Promise<Store> {
  if (store === undefined) return byDefault()
  return typeof store === 'string' ? openStore(store, { onWarning: report }) : store
}

/** @throws UsageError */
export async function serve(options: ServeOptions): Promise<Server> {
  const { env, host = '127.0.0.1', port = DEFAULT_PORT, tls, isPublic = false, version = '0', report = () => undefined, askedFor } = options
  if (!isLoopback(host) && !tls && !isPublic)
    throw new UsageError(
      `--host ${host} can be reached from other machines, and the token can be read on the way`,
      'Use TLS (--cert and --key), or a proxy that does and --public. Without --host, only this machine can reach it.',
    )
  const reached = reachedBy({ host, allowHosts: options.allowHosts ?? [], allowOrigins: options.allowOrigins ?? [] })
  const data = openDataDir(env)
  const { token, isNew } = options.token === undefined ? tokenIn(join(data.dir, 'server-token')) : { token: options.token, isNew: false }
  if (token.length < 16) throw new UsageError('the token is too short', 'Give one of at least 16 characters, or none.')
  const store = await opened(options, () => openStoreAt(data, env, report))
  const fileEntry = fileLog(data.log)
  const log = ({ error }: { readonly error: unknown }): void => fileEntry({ error })
  const closing = new AbortController()
  const metrics = createMetrics()
  const settings = readSettings(data.dir, {}, env)
  const origins = new Set([settings.baseUrl?.value].flatMap((url) => (url === undefined ? [] : (originOf(url) ?? []))))
  const runner = createRunner({
    store,
    env,
    version,
    keys: { origins },
    log,
    onEvent: metrics.event,
    ...(askedFor !== undefined && { askedFor }),
  })
  const chat = createChat({ store, runner, cwd: options.cwd })
  const handlers = createHandlers({ store, runner, chat, env, version })
  const strangers = limitStrangers(options.maxStrangers ?? MAX_STRANGERS)
  const app = createApp({ store, runner, chat, handlers, metrics, token, reached, version, strangers, closing: closing.signal, log })
  const slow = options.slowMs ?? SLOW
  const shared = { ...limitsFor(slow), maxHeaderSize: MAX_HEADERS }
  const server = createAdaptorServer({
    fetch: app.fetch,
    ...(tls
      ? { createServer: createHttpsServer, serverOptions: { ...shared, ...tls, handshakeTimeout: slow } }
      : { createServer: createHttpServer, serverOptions: shared }),
  })
  server.on('connection', strangers.met)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => resolve())
    })
  } catch (error) {
    await runner.close(0)
    await store.close()
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(
      `the server can't listen on ${host}:${port} (${code})`,
      code === 'EADDRINUSE' ? 'Use another --port, or 0 for a free one.' : 'Use another --host or --port.',
    )
  }
  const { port: actual } = server.address() as AddressInfo
  void runner.look()

  let closed: Promise<void> | undefined
  const close = (grace = 0): Promise<void> => {
    closed ??= (async () => {
      const stopped = new Promise((resolve) => server.close(resolve))
      await runner.close(grace)
      closing.abort()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await stopped
      await store.close()
    })()
    return closed
  }
  return {
    url: `${tls ? 'https' : 'http'}://${shownHost(reached)}:${actual}`,
    token,
    isNewToken: isNew,
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}
