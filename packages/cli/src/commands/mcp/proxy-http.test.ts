/** The proxy in front of a server that is reached by HTTP, with the protocol's official client and server. */
import { EventEmitter } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { BIN, place } from '../../../test/cli.fixture.ts'

const TOKEN = 'a-token-of-24-characters'

/** What came in, as `method tool`. */
const received: string[] = []
const cancelled = Promise.withResolvers<void>()
const begun = new EventEmitter()
let server: Server
let url = ''

function notes(): McpServer {
  const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
  mcp.registerTool(
    'list_notes',
    { description: 'Lists notes.', inputSchema: z.object({ limit: z.number() }), annotations: { readOnlyHint: true } },
    ({ limit }) => ({ content: [{ type: 'text', text: `${limit} notes` }] }),
  )
  mcp.registerTool('wait', { description: 'Waits.', inputSchema: z.object({}) }, async (_, { mcpReq: { signal } }) => {
    begun.emit('wait')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    cancelled.resolve()
    return { content: [] }
  })
  return mcp
}

beforeAll(async () => {
  const handle = toNodeHandler(createMcpHandler(notes)) as RequestListener
  server = createServer((req, res) => {
    received.push(`${req.headers['mcp-protocol-version'] ?? '-'} ${req.headers['mcp-method'] ?? '-'}`)
    if (req.headers.authorization === `Bearer ${TOKEN}`) handle(req, res)
    else res.writeHead(401).end(`wrong: ${req.headers.authorization}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function connected(flags: readonly string[], mode: 'legacy' | { pin: string }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  using here = place()
  const args = [BIN, 'mcp', 'proxy', '--url', url, ...flags]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { MULLIGAN_DATA_DIR: here.data, PATH: process.env['PATH'] ?? '' } }),
  )
  return client
}

describe.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const)('protocol version %s', (version, mode) => {
  it('calls are repaired, and cancelling one reaches the server', async () => {
    const client = await connected(['--header', `Authorization: Bearer ${TOKEN}`], mode)
    received.length = 0
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['list_notes', 'wait'])
    expect(await client.callTool({ name: 'list_notes', arguments: { limit: '5' } })).toMatchObject({
      content: [{ text: '5 notes' }, { text: expect.stringContaining('repaired') as string }],
    })
    expect(await client.callTool({ name: 'list_note', arguments: { limit: 5 } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('list_notes') as string }],
    })
    expect([...new Set(received)]).toEqual(version === '2025-11-25' ? [`${version} -`] : [`${version} tools/list`, `${version} tools/call`])
    const stop = new AbortController()
    const waiting = client.callTool({ name: 'wait', arguments: {} }, { signal: stop.signal })
    waiting.catch(() => undefined)
    await new Promise((resolve) => begun.once('wait', resolve))
    stop.abort('enough')
    await expect(waiting).rejects.toThrow()
    if (mode !== 'legacy') await cancelled.promise
    await client.close()
  }, 60_000)
})

it('a refused token is told without its value', async () => {
  const error = await connected(['--header', `Authorization: Bearer not-${TOKEN}`], 'legacy').catch((reason: unknown) => String(reason))
  expect(error).toContain('HTTP 401')
  expect(error).not.toContain(TOKEN)
})
