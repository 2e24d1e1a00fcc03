import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
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
