/** Who is let in, and what gets out. */
import { readFileSync, statSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { isAll } from '../../../scripts/test-scope.fixture.ts'
import { openApi } from './openapi.ts'
import { isSameToken, reachedBy, shownHost } from './security.ts'
import { serve } from './serve.ts'
import { isEnd, serving } from './serving.fixture.ts'

/** Sends a request as it is: `fetch` does not let a program set Host, and normalises paths. */
function raw(
  url: string,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<{ status: number; text: string; headers: object }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('who is let in', () => {
  it('every path below /api needs the token, in the header only', async () => {
    await using served = await serving([])
    const { server, session } = served
    const id = await session()
    const paths = Object.entries((openApi('0') as { paths: Record<string, object> }).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.replace('{id}', id).replace('{turnId}', '1')] as const),
    )
    expect(paths.length).toBeGreaterThan(15)
    for (const [method, path] of [...paths, ['GET', '/metrics'] as const])
      for (const headers of [
        {},
        { authorization: 'Bearer wrong' },
        { authorization: `Basic ${server.token}` },
        { authorization: server.token.slice(0, -1) },
      ])
        expect([path, (await raw(server.url, `${path}?token=${server.token}`, headers as never, method)).status]).toEqual([path, 401])
    expect((await raw(server.url, '/api/sessions', { authorization: `Bearer ${server.token}` })).status).toBe(200)
  })

  it('the token is made once, for the user only, and compared in full', async () => {
    await using served = await serving([])
    const { server, env, home } = served
    const file = join(home, '.local/share/mulligan/server-token')
    expect([readFileSync(file, 'utf8').trim(), statSync(file).mode & 0o777, server.isNewToken]).toEqual([server.token, 0o600, true])
    await using again = await serve({ env, port: 0 })
    expect([again.token, again.isNewToken]).toEqual([server.token, false])
    expect([isSameToken('abc', 'abc'), isSameToken('abc', 'ab'), isSameToken('', 'x')]).toEqual([true, false, false])
  })

  it('other hosts and origins are refused, also with the token', async () => {
    await using served = await serving([], { allowHosts: ['mulligan.example'], allowOrigins: ['https://app.example'] })
    const { server } = served
    const token = { authorization: `Bearer ${server.token}` }
    const status = async (headers: Record<string, string>, path = '/api/sessions', method = 'GET') =>
      (await raw(server.url, path, { ...token, ...headers }, method)).status
    for (const host of [
      'evil.example',
      'evil.example:4711',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '127.0.0.1@evil.example',
      '93.184.216.34',
      '0x7f.1.evil',
    ])
      for (const path of ['/api/sessions', '/health', '/'])
        expect([host, path, [400, 403].includes(await status({ host }, path))]).toEqual([host, path, true])
    for (const host of ['localhost', 'localhost:1', '127.0.0.1', '[::1]:80', 'mulligan.example'])
      expect([host, await status({ host })]).toEqual([host, 200])
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', 'https://app.example.evil'])
      expect([origin, await status({ origin })]).toEqual([origin, 403])
    expect(await status({ origin: new URL(server.url).origin })).toBe(200)
    const asked = await raw(
      server.url,
      '/api/sessions',
      { origin: 'https://app.example', 'access-control-request-method': 'POST' },
      'OPTIONS',
    )
    expect(asked).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': 'https://app.example' } })
  })

  it('names and origins are taken as they are typed, and one that no request can have is refused', async () => {
    const reached = (allowHosts: readonly string[], allowOrigins: readonly string[] = []) =>
      reachedBy({ host: '0.0.0.0', allowHosts, allowOrigins })
    expect(reached(['Agent.Example.com', '[::1]', '10.0.0.7'], ['https://App.example/', 'http://app.example:3000'])).toEqual({
      host: '0.0.0.0',
      allowHosts: ['agent.example.com', '::1', '10.0.0.7'],
      allowOrigins: ['https://app.example', 'http://app.example:3000'],
    })
    for (const name of ['https://agent.example.com', 'agent.example.com:8443', 'a.example/x', '', 'a b'])
      expect(() => reached([name]), name).toThrow('is not a host name')
    for (const origin of ['app.example', 'https://app.example/x', 'file:///x', '*', 'null'])
      expect(() => reached([], [origin]), origin).toThrow('is not an origin')
    expect(shownHost(reached(['agent.example.com']))).toBe('agent.example.com')
    expect(shownHost({ ...reached([]), host: '::' })).toBe('127.0.0.1')
    expect(shownHost({ ...reached([]), host: '::1' })).toBe('[::1]')
  })

  it('an address that others can reach needs TLS, or a word', async () => {
    await using served = await serving([])
    const { env } = served
    for (const host of ['0.0.0.0', '::', '192.168.0.1'])
      await expect(serve({ env, host, port: 0 })).rejects.toThrow('can be reached from other machines')
    await using open = await serve({ env, host: '0.0.0.0', port: 0, isPublic: true })
    expect((await fetch(`${open.url}/health`)).status).toBe(200)
    expect(new URL(open.url).hostname).toBe('127.0.0.1')
    await expect(serve({ env, port: Number(new URL(open.url).port) })).rejects.toThrow('EADDRINUSE')
  })
})

describe('what is taken', () => {
  it('tricks with paths lead nowhere', async () => {
    await using served = await serving([])
    const { server } = served
    const token = { authorization: `Bearer ${server.token}` }
    for (const path of [
      '/../package.json',
      '/..%2fpackage.json',
      '/%2e%2e/%2e%2e/etc/passwd',
      '//etc/passwd',
      '/assets/..%5c..%5c',
      '/\\..\\',
      '/api/..%2f..%2fhealth',
      '/%00',
      '/api/sessions/%2e%2e%2f%2e%2e',
    ])
      expect([path, (await raw(server.url, path, token)).status >= 400]).toEqual([path, true])
    for (const path of ['/API/sessions', '//api/sessions', '/api//sessions', '/./api/sessions', '/x/../api/sessions'])
      expect([path, [401, 404].includes((await raw(server.url, path, {})).status)]).toEqual([path, true])
  })

  it('bodies have a limit and a type', async () => {
    await using served = await serving([])
    const { server, session } = served
    const id = await session()
    const send = (body: string, headers: Record<string, string> = {}) =>
      raw(
        server.url,
        `/api/sessions/${id}/turns`,
        { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', ...headers },
        'POST',
        body,
      )
    const large = await fetch(`${server.url}/api/sessions/${id}/turns`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x'.repeat(1_100_000) }),
    })
    expect(large.status).toBe(413)
    expect((await send(JSON.stringify({ prompt: 'x'.repeat(600_000) }))).status).toBe(422)
    expect((await send('{"prompt":')).status).toBe(400)
    expect((await send('{"prompt":"x"}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await send('{"prompt":"x"}', { cookie: 'x'.repeat(20_000) })).status).toBe(431)
  })

  /** Opens connections whose requests never end. */
  async function slowly(url: string, count: number, text: string) {
    const port = Number(new URL(url).port)
    const state = { closed: 0, open: 0, said: '' }
    for (let left = count; left > 0; left -= 500)
      await Promise.all(
        Array.from({ length: Math.min(left, 500) }, async () => {
          const socket = connect(port, '127.0.0.1')
          socket
            .on('error', () => undefined)
            .on('data', (chunk) => {
              state.said += chunk.toString('latin1')
            })
            .once('close', () => state.closed++)
          await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', resolve))
          socket.write(text)
        }),
      )
    return state
  }
  const HALF = 'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Le'

  it('slow connections are ended, and others are served meanwhile', async () => {
    await using served = await serving([], { slowMs: 1000, maxStrangers: 200 })
    const { server, api } = served
    const count = isAll ? 10_000 : 600
    let answered = 0
    const asking = (async () => {
      for (let n = 0; n < 10; n++) answered += Number((await api.get('/api/sessions')).status === 200)
    })()
    const slow = await slowly(server.url, count, HALF)
    await asking
    expect(answered).toBe(10)
    await expect.poll(() => slow.closed, { timeout: 60_000 }).toBe(count)
    expect((await api.get('/health')).status).toBe(200)
  }, 120_000)

  it('of connections without a token, the oldest make way for new ones; those with one stay', async () => {
    await using served = await serving([say('Hi.')], { slowMs: 60_000, maxStrangers: 50 })
    const { server, api, session } = served
    const id = await session()
    const following = api.follow(id, isEnd)
    await api.get('/api/sessions')
    const slow = await slowly(server.url, 300, HALF)
    await expect.poll(() => slow.closed).toBeGreaterThanOrEqual(250)
    await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
    expect((await following).at(-1)).toMatchObject({ type: 'turn.ended' })
    // Control: without the limit, all of them stay.
    await using open = await serving([], { slowMs: 60_000, maxStrangers: 1000 })
    const all = await slowly(open.server.url, 300, HALF)
    expect((await open.api.get('/api/sessions')).status).toBe(200)
    expect(all.closed).toBe(0)
  })

  it('a body that never comes is not waited for, and without the token not at all', async () => {
    await using served = await serving([], { slowMs: 300 })
    const { server } = served
    const head = (token: string) =>
      `POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{`
    const inPieces = (token: string) => head(token).replace(/Content-Length.*\r\n\r\n\{/, 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n')
    const known = [head, inPieces].map((of) => slowly(server.url, 1, of(server.token)))
    const unknown = [head, inPieces].map((of) => slowly(server.url, 1, of('x'.repeat(32))))
    const all = await Promise.all([...known, ...unknown])
    await expect.poll(() => all.map(({ closed }) => closed), { timeout: 30_000 }).toEqual([1, 1, 1, 1])
    expect(all.map(({ said }) => said.slice(9, 12))).toEqual(['408', '408', '401', '401'])
  }, 60_000)
})

describe('what gets out', () => {
  it('a key goes only where it is configured for, and is in no response, event or log', async () => {
    const KEY = 'sk-secret-4711'
    const seen: (string | undefined)[] = []
    const thief = createServer((request, response) => {
      seen.push(request.headers.authorization, request.headers['x-api-key'] as string)
      response.writeHead(401).end(`{"error":{"message":"no ${request.headers.authorization}"}}`)
    })
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve))
    await using own = await scriptedModel([say('Hi.')])
    const env = { MULLIGAN_BASE_URL: own.url, MULLIGAN_MODEL: 'any', MULLIGAN_API_KEY: KEY, OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY }
    await using served = await serving([], { env })
    const { api, session, home, model: _ } = served
    const at = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/v1`
    let answers = ''
    for (const model of ['any', 'openai/gpt', 'anthropic/claude', 'openai-compatible/x', 'ollama/x']) {
      const id = await session({ model, baseUrl: at })
      const begun = await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
      answers += JSON.stringify(begun.body)
      if (begun.status === 202) answers += JSON.stringify(await api.follow(id, isEnd))
      answers += JSON.stringify((await api.get(`/api/sessions/${id}/messages`)).body)
    }
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.filter((one) => one?.includes(KEY))).toEqual([])
    // Control: the configured server gets it.
    const id = (await api.post('/api/sessions', { cwd: served.dir })).body.id
    await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
    await api.follow(id, isEnd)
    expect(JSON.stringify(own.requests[0]?.headers)).toContain(KEY)
    const log = (() => {
      try {
        return readFileSync(join(home, '.local/share/mulligan/log.jsonl'), 'utf8')
      } catch {
        return ''
      }
    })()
    expect([answers, log].some((text) => text.includes(KEY) || text.includes(served.server.token))).toBe(false)
    thief.closeAllConnections()
    thief.close()
  })

  it('every response forbids scripts that are not the server’s own, frames and sniffing', async () => {
    await using served = await serving([])
    const { server } = served
    for (const path of ['/', '/health', '/api/sessions', '/nothing']) {
      const { headers } = await fetch(`${server.url}${path}`)
      const policy = headers.get('content-security-policy') ?? ''
      expect([
        policy.includes("script-src 'self';"),
        policy.includes('unsafe'),
        headers.get('x-content-type-options'),
        headers.get('x-frame-options'),
      ]).toEqual([true, false, 'nosniff', 'DENY'])
    }
  })
})
