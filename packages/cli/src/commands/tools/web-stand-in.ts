/** The web as the examples of the web tools need it, on this machine: an audit asks nobody else. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Tool } from '@mulligan/core'
import { webTools } from '@mulligan/tools'

export interface WebStandIn {
  /** The web tools, with a search, and examples that lead here. */
  readonly tools: () => readonly Tool[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The host of the examples, and what stands for its scheme. */
const EXAMPLE = /^(?:https?|(htp)):\/\/example\.com(?=\/|$)/

export async function webStandIn(): Promise<WebStandIn> {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const here = (url: string): string => url.replace(EXAMPLE, (_, misspelt: string | undefined) => `${misspelt ?? 'http'}://${host}`)
  return {
    tools: () => webTools({ allowPrivate: [host], search: { searxng: { url: `http://${host}` } } }).map((tool) => leading(tool, here)),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const answer: RequestListener = ({ url = '/' }, response) => {
  const [type, body] = url.startsWith('/search') ? ['application/json', RESULTS] : ['text/html; charset=utf-8', PAGE]
  response.writeHead(200, { 'content-type': type }).end(body)
}

const PAGE = '<title>Example</title><h1>Example</h1><p>A page to try things on.</p>'
const RESULTS = JSON.stringify({ results: [{ title: 'Example', url: 'https://example.com/', content: 'A page to try things on.' }] })

const leading = (tool: Tool, here: (url: string) => string): Tool => ({
  ...tool,
  examples: tool.examples.map((example) => {
    const { url } = example.input
    return typeof url === 'string' ? { ...example, input: { ...example.input, url: here(url) } } : example
  }),
})
