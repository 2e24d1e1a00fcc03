/** Model servers that give predefined answers by path, over real HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NO_SERVERS } from '../common/place.fixture.ts'

/** An object is sent as JSON; a function gets the body; a number is a status; a string is sent as is; `hang` never answers. */
export type Answer = object | number | string | ((body: unknown) => unknown)
export const HANG = 'hang'

export interface FakeServer {
  readonly url: string
  /** `GET /v1/models`, in order of arrival. */
  readonly seen: readonly string[]
  /** Headers of the requests, by name. */
  readonly headers: readonly Readonly<Record<string, string | readonly string[] | undefined>>[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export async function fakeServer(routes: Readonly<Record<string, Answer>>): Promise<FakeServer> {
  const seen: string[] = []
  const headers: FakeServer['headers'][number][] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    seen.push(`${request.method} ${path}`)
    headers.push(request.headers)
    let text = ''
    for await (const chunk of request) text += chunk
    const route = Object.hasOwn(routes, path) ? routes[path] : 404
    const answer = typeof route === 'function' ? (route as (body: unknown) => unknown)(text === '' ? undefined : JSON.parse(text)) : route
    if (answer === HANG) return
    if (typeof answer === 'number') response.writeHead(answer, { 'content-type': 'text/html' }).end('<html>no</html>')
    else response.writeHead(200, { 'content-type': 'application/json' }).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    headers,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Returns an environment in which only these servers exist. */
export const withServers = (servers: Readonly<Partial<Record<keyof typeof NO_SERVERS, FakeServer>>>): Record<string, string> => ({
  ...NO_SERVERS,
  ...Object.fromEntries(Object.entries(servers).map(([variable, { url }]) => [variable, url])),
})

interface OllamaModel {
  readonly capabilities?: readonly string[]
  readonly context?: number
  readonly modified?: string
  readonly size?: number
  readonly loaded?: number | true
  readonly remote?: string
}

/** Ollama's routes for questions about its models. */
export const ollamaRoutes = (models: Readonly<Record<string, OllamaModel>>): Readonly<Record<string, Answer>> => ({
  '/api/tags': {
    models: Object.entries(models).map(([name, { modified = '2026-01-01T00:00:00Z', size = 1_000_000_000, remote }]) => ({
      name,
      model: name,
      modified_at: modified,
      size,
      ...(remote && { remote_host: remote, remote_model: name }),
    })),
  },
  '/api/ps': {
    models: Object.entries(models).flatMap(([name, { loaded }]) =>
      loaded === undefined ? [] : [{ name, ...(loaded !== true && { context_length: loaded }) }],
    ),
  },
  '/api/show': (body: unknown) => {
    const { capabilities = ['completion', 'tools'], context = 131_072 } = models[(body as { model: string }).model] ?? {}
    return { capabilities, model_info: { 'general.architecture': 'glm4moe', 'glm4moe.context_length': context } }
  },
})
