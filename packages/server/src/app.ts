/** The HTTP application: security, checks and routes. */
import type { HttpBindings } from '@hono/node-server'
import type { Store } from '@mulligan/agent'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status'
import { type Body, CONTRACT, type Endpoint } from './contract.ts'
import { ApiError, apiErrorOf, bodyOf, notFound } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { type Keyed, onceFor } from './idempotency.ts'
import type { createMetrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import { servePage } from './page.ts'
import type { Runner } from './runner.ts'
import { checkReached, type Reached, requireToken, secureHeaders } from './security.ts'
import { eventStream } from './sse.ts'
import type { Strangers } from './strangers.ts'
import type { Chat, ChatTurn } from './ui-messages/chat.ts'
import { uiMessageStream } from './ui-messages/stream.ts'

const MAX_BODY = 1_000_000
/** A client of the AI SDK sends the whole conversation each time. */
const MAX_CHAT = 32_000_000

const CHAT = '/api/chat'
const atMost = (maxSize: number) =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw new ApiError(413, 'too_large', `a request may have at most ${maxSize} bytes`)
    },
  })
const smallBody = atMost(MAX_BODY)
const largeBody = atMost(MAX_CHAT)

export interface AppOptions {
  readonly store: Store
  readonly runner: Runner
  readonly chat: Chat
  readonly handlers: Handlers
  readonly metrics: ReturnType<typeof createMetrics>
  readonly token: string
  readonly reached: Reached
  readonly strangers: Pick<Strangers, 'known'>
  readonly version: string
  /** Folder of the page. Default: the one that was built into the package. */
  readonly page?: string | undefined
  /** Ends all event streams. */
  readonly closing: AbortSignal
  readonly log: (entry: { readonly error: unknown }) => void
}

export function createApp(options: AppOptions): Hono {
  const { store, runner, chat, handlers, metrics, token, reached, strangers, version, page, closing, log } = options
  const app = new Hono()
  app.use(secureHeaders)
  app.use(checkReached(reached))
  app.use(unread)
  app.onError((error, c) => {
    const known = apiErrorOf(error)
    if (known.status === 500) log({ error })
    return c.json(bodyOf(known), known.status)
  })
  app.notFound((c) => c.json(bodyOf(notFound('such path')), 404))

  app.get('/health', (c) => c.json({ status: 'ok', version }))
  app.get('/ready', async (c) => {
    const isStored = await store.sessions({ limit: 1 }).then(
      () => true,
      () => false,
    )
    const isReady = isStored && !closing.aborted
    return c.json(
      { status: isReady ? 'ready' : 'not ready', checks: { store: isStored, accepting: !closing.aborted } },
      isReady ? 200 : 503,
    )
  })
  app.get('/openapi.json', (c) => c.json(openApi(version)))
  servePage(app, page)
  for (const path of ['/api/*', '/metrics']) app.use(path, requireToken(token))
  app.use('/api/*', (c, next) => {
    strangers.known((c.env as Partial<HttpBindings>).incoming?.socket)
    return next()
  })
  // Nothing of a body is read or kept for somebody without the token.
  app.use('/api/*', (c, next) => (c.req.path === CHAT ? largeBody(c, next) : smallBody(c, next)))
  app.get('/metrics', async (c) => {
    const pending = (await store.approvals({ status: 'pending' })).length
    return c.text(metrics.text(runner.counts(), pending), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  })

  app.get('/api/sessions/:id/events', async (c) => {
    const id = c.req.param('id')
    if (!(await store.session(id)) || id.includes('/')) throw notFound('such session')
    const cursor = c.req.header('last-event-id') ?? c.req.query('after') ?? '0'
    if (!/^\d{1,15}$/.test(cursor)) throw new ApiError(400, 'validation', 'the cursor must be the id of an event')
    const source = { store, feed: runner.feedOf(id), sessionId: id, after: Number(cursor) }
    return eventStream(source, AbortSignal.any([closing, c.req.raw.signal]), (evicted) => evicted && metrics.evicted())
  })

  const follow = (turn: ChatTurn, c: Context): Response =>
    uiMessageStream({ store, feed: runner.feedOf(turn.sessionId), ...turn }, closing, () =>
      (c.env as Partial<HttpBindings>).outgoing?.destroy(),
    )
  app.post(CHAT, async (c) => {
    const sent = checked(CONTRACT['POST /api/chat'].body, jsonOf(c, await c.req.text()), 'body') as Body<'POST /api/chat'>
    return follow(await chat.send(sent), c)
  })
  app.get('/api/chat/:id/stream', async (c) => {
    const turn = await chat.active(c.req.param('id'))
    return turn ? follow(turn, c) : c.body(null, 204)
  })

  for (const [route, handle] of Object.entries(handlers)) {
    const [method = '', path = ''] = route.split(' ')
    const endpoint: Endpoint = CONTRACT[route as keyof typeof handlers]
    app.on(method, path, async (c) => {
      const query = checked(endpoint.query, c.req.query(), 'query')
      const text = endpoint.body ? await c.req.text() : ''
      const body = endpoint.body && checked(endpoint.body, jsonOf(c, text), 'body')
      const work = async (keyed?: Keyed) => ({
        status: endpoint.status,
        body: await (handle as (input: object) => Promise<unknown>)({ params: c.req.param(), query, body, keyed }),
      })
      const key = method === 'POST' ? c.req.header('idempotency-key') : undefined
      const done = key ? await onceFor(store, { key, request: `${method} ${c.req.path} ${text}` }, work) : await work()
      return done.body === undefined
        ? c.body(null, done.status as StatusCode)
        : c.json(done.body as object, done.status as ContentfulStatusCode)
    })
  }
  return app
}

/** Nobody reads the body of a HEAD response: what would be written to it goes on forever otherwise. */
const unread: MiddlewareHandler = async (c, next) => {
  await next()
  if (c.req.method === 'HEAD') await c.res.body?.cancel()
}

function jsonOf(c: Context, text: string): unknown {
  // A page of another origin can send text without asking, but not JSON.
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? ''))
    throw new ApiError(415, 'content_type', 'the body must be JSON', 'Content-Type: application/json')
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError(400, 'validation', 'the body is not valid JSON')
  }
}

function checked(schema: Endpoint['body'], value: unknown, what: string): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const at = issue && issue.path.length > 0 ? ` at ${issue.path.join('.')}` : ''
  throw new ApiError(what === 'query' ? 400 : 422, 'validation', `the ${what} is not valid${at}: ${issue?.message ?? ''}`)
}
