/** A collector for OTLP over HTTP, limited to spans. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedSpan {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceId: string
  readonly kind: number
  readonly status: { readonly code: number }
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[]
}

export interface Collector {
  readonly url: string
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[]
  readonly spans: () => readonly ReceivedSpan[]
  readonly resource: () => Readonly<Record<string, unknown>>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came
type Json = any

const plain = (value: Json): unknown =>
  value.arrayValue
    ? value.arrayValue.values.map(plain)
    : (value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue))
const attributesOf = (list: Json): Record<string, unknown> =>
  Object.fromEntries((list ?? []).map(({ key, value }: Json) => [key, plain(value)]))

/** @param hangs whether it accepts data but never responds */
export async function collector({ hangs = false } = {}): Promise<Collector> {
  const requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer(async (request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers, body: await text(request) })
    if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bodies = (): Json[] => requests.flatMap(({ body }) => JSON.parse(body).resourceSpans)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () =>
      bodies()
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .map((span: Json) => ({
          ...span,
          attributes: attributesOf(span.attributes),
          events: (span.events as Json[]).map(({ name, attributes }) => ({ name, attributes: attributesOf(attributes) })),
        })),
    resource: () => attributesOf(bodies()[0]?.resource.attributes),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
