/** Serving by HTTP: who is let in, and calls that take several requests, with the protocol's official client. */
import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { defineTool } from '@mulligan/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ServedOverHttp, serveToolsHttp } from './http.ts'

const TOKEN = 'a-token-of-24-characters'
const AUTHORIZATION = `Bearer ${TOKEN}`
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

let served: ServedOverHttp
const done: string[] = []

beforeEach(async () => {
  done.length = 0
  const post = defineTool({
    ...{ name: 'post', description: 'Posts.', input: z.object({ text: z.string() }) },
    async execute({ text }, { signal }) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      signal.throwIfAborted()
      done.push(text)
      return 'posted'
    },
  })
  served = await serveToolsHttp({
    ...{ name: 'test', version: '1', tools: [post], token: TOKEN },
    policy: () => ({ decision: 'ask', reason: 'it posts' }),
    approve: async () => ({ answer: 'nobody' }),
  })
})
afterEach(() => served.close())

/** `fetch` sends no other host. */
const send = (headers: Record<string, string>, { at = served.url, body = PING } = {}): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
    const sent = request(at, { method: 'POST', headers: all }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += String(chunk)
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.write(body)
    if (!('content-length' in headers)) sent.end()
  })

it('refuses whoever has no token, comes from a page, or uses another name', async () => {
  const status = async (...[headers, more]: Parameters<typeof send>) => (await send(headers, more)).status
  const authorization = AUTHORIZATION
  expect([
    await status({}),
    await status({ authorization: `${AUTHORIZATION}x` }),
    await status({ authorization: 'Bearer ' }),
    await status({ authorization, host: 'evil.example' }),
    await status({ authorization, origin: 'https://evil.example' }),
    await status({ authorization, origin: 'null' }),
    await status({ authorization }, { at: served.url.replace('/mcp', '/other') }),
    await status({ authorization, 'content-length': '5000000' }),
    await status({ authorization, 'mcp-session-id': 'made-up' }),
    await status({ authorization }),
  ]).toEqual([401, 401, 401, 403, 403, 403, 404, 413, 404, 400])
  expect((await send({})).text).not.toContain(TOKEN)
})

describe.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const)('version %s', (_, mode) => {
  it('a call goes on after the person was asked', async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities: { elicitation: {} } })
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { allow: true } }))
    await client.connect(
      new StreamableHTTPClientTransport(new URL(served.url), { requestInit: { headers: { authorization: AUTHORIZATION } } }),
    )
    expect(await client.callTool({ name: 'post', arguments: { text: 'a' } })).toMatchObject({ content: [{ text: 'posted' }] })
    expect(done).toEqual(['a'])
    await client.close()
  })
})
