import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { patientFetch } from './patient-fetch.ts'

async function sent(headers: RequestInit['headers']): Promise<IncomingHttpHeaders> {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const response = await patientFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { ...(headers && { headers }) })
    return (await response.json()) as IncomingHttpHeaders
  } finally {
    server.close()
  }
}

describe('the headers of a request', () => {
  // A key read from a file ends with a line break.
  it.each<[string, RequestInit['headers']]>([
    ['a record', { Authorization: ' Bearer key\n', 'X-Of-Test': '1' }],
    [
      'pairs',
      [
        ['Authorization', 'Bearer key\r\n'],
        ['X-Of-Test', '1'],
      ],
    ],
    ['Headers', new Headers({ Authorization: ' Bearer key\n', 'X-Of-Test': '1' })],
  ])('are those of %s, trimmed as fetch does it', async (_, headers) => {
    expect(await sent(headers)).toMatchObject({ authorization: 'Bearer key', 'x-of-test': '1', 'accept-encoding': 'identity' })
  })

  it('can be missing', async () => {
    expect(await sent(undefined)).toMatchObject({ 'accept-encoding': 'identity' })
  })

  it('are refused where they would be two', async () => {
    await expect(sent({ authorization: 'Bearer\nx: y' })).rejects.toThrow(TypeError)
  })
})

describe('connections', () => {
  /** A server that counts its connections, and closes each after its reply if told to. */
  async function counting(handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('{}')) {
    let connections = 0
    const server = createServer(handle)
    server.on('connection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      server,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      connections: () => connections,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      },
    }
  }
  /** The connection is free one turn of the event loop after the body was read. */
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const asked = async (url: string, init: RequestInit = {}): Promise<string> => {
    const text = await (await patientFetch(url, init)).text()
    await settled()
    return text
  }

  it('are used again by requests that follow each other, and not shared by those at once', async () => {
    await using here = await counting()
    for (let n = 0; n < 5; n++) await asked(here.url, { method: 'POST', body: `{"n":${n}}` })
    expect(here.connections()).toBe(1)
    await Promise.all([asked(here.url), asked(here.url), asked(here.url)])
    expect(here.connections()).toBe(3)
  })

  it('that the server closes are not used again', async () => {
    await using here = await counting()
    await asked(here.url)
    here.server.closeIdleConnections()
    // By the time another server has answered, the close has arrived too.
    await using other = await counting()
    await asked(other.url)
    expect(await asked(here.url, { method: 'POST', body: 'x' })).toBe('{}')
    await using closing = await counting((_, response) => response.setHeader('connection', 'close').end('{}'))
    for (let n = 0; n < 3; n++) await asked(closing.url)
    expect(closing.connections()).toBe(3)
  })

  it('are closed for a request that is aborted, and for a reply that is not read', async () => {
    const closed: string[] = []
    await using here = await counting((request, response) => {
      request.socket.once('close', () => closed.push(request.url ?? ''))
      if (request.url === '/') response.end('{}')
      else response.write('the beginning')
    })
    const abort = new AbortController()
    const response = await patientFetch(`${here.url}/aborted`, { signal: abort.signal })
    abort.abort()
    await expect(response.text()).rejects.toThrow()
    await (await patientFetch(`${here.url}/unread`)).body?.cancel()
    await expect.poll(() => closed.toSorted()).toEqual(['/aborted', '/unread'])
    expect(await asked(here.url)).toBe('{}')
  })

  it('that break under a request are a fault, and the request is not sent a second time', async () => {
    let requests = 0
    await using here = await counting((request, response) => {
      requests++
      if (requests === 2) request.socket.destroy()
      else response.end('{}')
    })
    await asked(here.url)
    await expect(asked(here.url, { method: 'POST', body: 'x' })).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'ECONNRESET' },
    })
    expect([requests, here.connections()]).toEqual([2, 1])
    expect(await asked(here.url)).toBe('{}')
  })

  it('wait for a reply as long as it takes, also if they were used before', async () => {
    const script = `
      const { createServer } = await import('node:http')
      const { patientFetch } = await import(${JSON.stringify(new URL('./patient-fetch.ts', import.meta.url).href)})
      const server = createServer((request, response) => request.url === '/' ? response.end('fast') : setTimeout(() => response.end('slow'), 2000)).listen(0, '127.0.0.1', async () => {
        const url = 'http://127.0.0.1:' + server.address().port
        console.log(await (await patientFetch(url)).text(), await (await patientFetch(url + '/slow')).text())
        server.close()
      })
    `
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    // The process ends by itself: an idle connection does not hold it.
    expect([stdout.trim(), status], stderr).toEqual(['fast slow', 0])
  })
})

describe('what Node has for fetch', () => {
  const script = `
    const { patientFetch } = await import(${JSON.stringify(new URL('./patient-fetch.ts', import.meta.url).href)})
    const isLoaded = () => process.moduleLoadList.some((name) => name.endsWith('deps/undici/undici'))
    patientFetch('http://127.0.0.1:9', { method: 'POST', body: '{}', headers: { accept: 'x' } }).catch(() => process.exit())
    const before = isLoaded()
    new Headers()
    console.log(before, isLoaded())
  `

  it('is not loaded before the request is sent', () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(stdout.trim(), stderr).toBe('false true')
  })
})
