/** Real failures to connect, by the protocol's client. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { reasonOf } from './reason.ts'

async function reasonAt(url: string): Promise<string> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    return 'connected'
  } catch (error) {
    return reasonOf(error)
  }
}

async function served(handle: RequestListener): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const answers =
  (status: number, type = '', body = ''): RequestListener =>
  (_, response) =>
    response.writeHead(status, type === '' ? {} : { 'content-type': type }).end(body)

const NO_MCP = /what answers there is not an MCP server: check the path/

it.each<[string, RequestListener, RegExp]>([
  ['another path', answers(404), NO_MCP],
  ['something that takes no POST', answers(405), NO_MCP],
  ['a website', answers(200, 'text/html', '<h1>Hello</h1>'), NO_MCP],
  ['another API', answers(200, 'application/json', '{"ok":true}'), NO_MCP],
  ['a server at fault', answers(500), /^it answered with HTTP 500: try again later$/],
  ['a locked one', answers(401), /^it answered with HTTP 401 \(log in with mulligan mcp login/],
  ['one that hangs up', ({ socket }) => socket.destroy(), /^it closed the connection without an answer/],
])('%s is told in one sentence, without the words of the protocol', async (_, handle, says) => {
  await using server = await served(handle)
  const reason = await reasonAt(server.url)
  expect(reason).toMatch(says)
  expect(reason).not.toMatch(/probe|fetch failed|\n/)
})

it('an address at which nothing listens is told as that', async () => {
  const server = await served(answers(200))
  await server[Symbol.asyncDispose]()
  expect(await reasonAt(server.url)).toBe('nothing listens at its address: start the server, or check host and port')
})

it('http behind an https address is told as that', async () => {
  await using server = await served(answers(200))
  expect(await reasonAt(server.url.replace('http', 'https'))).toMatch(/^it does not answer by TLS/)
})

it('what is unknown is told with its cause', () => {
  const cause = new TypeError('fetch failed', { cause: new Error('bad port') })
  expect(reasonOf(new Error('Version negotiation probe failed: fetch failed', { cause }))).toBe('fetch failed (bad port)')
  expect(reasonOf(new Error('Version negotiation failed: no common version'))).toBe('no common version')
})
