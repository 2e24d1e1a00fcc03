/** Receives the answer of an authorization server at a loopback address. */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string
  /** Resolves with the parameters of the first answer that has the state. Any other is refused, and waited on. */
  readonly answer: (state: string) => Promise<URLSearchParams>
  /** Takes an address that a person copied from a browser on another machine. @returns whether it is the answer */
  readonly pasted: (text: string) => boolean
}

const PATH = '/callback'

/** @throws Error with the code `EADDRINUSE` if the port is taken */
export async function openCallback(port: number): Promise<Callback> {
  const answered = Promise.withResolvers<URLSearchParams>()
  let expected: string | undefined
  const take = (params: URLSearchParams): boolean => {
    if (expected === undefined || !isSame(params.get('state') ?? '', expected)) return false
    answered.resolve(params)
    return true
  }
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1')
    if (request.method !== 'GET' || url?.pathname !== PATH) return page(response, 404, 'Not found.')
    if (!take(url.searchParams)) return page(response, 400, 'This is not the login that mulligan is waiting for.')
    const done = url.searchParams.has('code')
    page(response, 200, done ? 'Done. You can close this window.' : 'You were not logged in. The terminal says why.')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    answer(state) {
      expected = state
      return answered.promise
    },
    pasted: (text) => take(URL.parse(text.trim())?.searchParams ?? new URLSearchParams()),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function page(response: ServerResponse, status: number, says: string): void {
  response
    .writeHead(status, {
      ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', connection: 'close' },
      ...{ 'content-security-policy': "default-src 'none'", 'referrer-policy': 'no-referrer' },
    })
    .end(`<!doctype html><title>mulligan</title><p>${says}</p>`)
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
