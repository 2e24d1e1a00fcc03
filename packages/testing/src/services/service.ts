/** A stand-in for a web service: a real HTTP server whose connections and answers can be made to fail. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from '../scripted-model/http.ts'

/** A request as the service received it. */
export interface ServiceRequest {
  /** Counts from 1. */
  readonly n: number
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface ServiceAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is a string. */
  readonly body: unknown
}

export type ServiceFault =
  /** Answers in place of the service; nothing is carried out. */
  | ({ readonly kind: 'answer' } & ServiceAnswer)
  /** The connection breaks before the request is carried out. */
  | { readonly kind: 'reset before' }
  /** The request is carried out, and the connection breaks before the answer. */
  | { readonly kind: 'reset after' }
  /** The request is carried out and never answered. */
  | { readonly kind: 'silent' }

export interface ServiceOptions {
  /** Decides which requests fail, and how. */
  readonly fault?: ((request: ServiceRequest) => ServiceFault | undefined) | undefined
}

export interface Service extends AsyncDisposable {
  /** The origin, such as `http://127.0.0.1:4711`. */
  readonly url: string
  /** Every request, in order. */
  readonly requests: readonly ServiceRequest[]
  readonly close: () => Promise<void>
}

/** The largest body that is read, in bytes. */
const MAX_BODY = 10_000_000

/** Starts a service. `handle` carries out one request. */
export async function startService(
  handle: (request: ServiceRequest, origin: string) => ServiceAnswer,
  { fault }: ServiceOptions = {},
): Promise<Service> {
  const requests: ServiceRequest[] = []
  const { origin, close } = await listen((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy())
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(incoming)
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://service')
    const request: ServiceRequest = {
      n: requests.length + 1,
      method: incoming.method ?? 'GET',
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body,
    }
    requests.push(request)
    const failing = fault?.(request)
    if (failing?.kind === 'reset before') return void incoming.socket.resetAndDestroy()
    const { status = 200, headers = {}, body: sent } = failing?.kind === 'answer' ? failing : handle(request, origin)
    if (failing?.kind === 'reset after') return void incoming.socket.resetAndDestroy()
    if (failing?.kind === 'silent') return
    const isText = typeof sent === 'string'
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json; charset=utf-8', ...headers })
    response.end(isText ? sent : sent === undefined ? '' : JSON.stringify(sent))
  }

  return { url: origin, requests, close, [Symbol.asyncDispose]: close }
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
