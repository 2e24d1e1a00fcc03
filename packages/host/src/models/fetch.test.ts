import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAgent, memoryStore } from '@mulligan/agent'
import { afterEach, describe, expect, it } from 'vitest'
import { openModel } from './open.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(location?: string) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    // Redirects of requests about the model are not followed either.
    if (request.method === 'POST') seen.push(request.url ?? '')
    response.writeHead(location === undefined ? 200 : 307, location === undefined ? {} : { location }).end()
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a redirect of the model’s server', () => {
  it.each([
    ['openai-compatible/x', { MULLIGAN_API_KEY: 'key-of-test' }],
    ['openai/x', { OPENAI_API_KEY: 'key-of-test' }],
    ['anthropic/x', { ANTHROPIC_API_KEY: 'key-of-test' }],
    ['google/x', { GEMINI_API_KEY: 'key-of-test' }],
    ['ollama/x', {}],
  ])('of %s is not followed, and the person is told where it leads', async (model, env) => {
    const other = await serve()
    const here = await serve(`${other.url}/v1/elsewhere`)
    const opened = await openModel({ model, baseUrl: here.url }, env as Record<string, string>)
    const agent = createAgent({ model: opened.model, tools: [], store: memoryStore(), cwd: '/', secrets: opened.secrets })
    const { error } = await agent.run({ prompt: 'hello' })
    expect(error).toContain(`${here.url} redirects to ${other.url}/v1/elsewhere (307)`)
    // Requests to Ollama about the model are POST too.
    expect([here.seen.length, other.seen.length]).toEqual([model.startsWith('ollama') ? 2 : 1, 0])
  })
})
