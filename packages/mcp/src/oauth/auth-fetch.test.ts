/** Where credentials are sent. */
import { expect, it } from 'vitest'
import { listening } from '../../../../scripts/listening.fixture.ts'
import { authFetch } from './auth-fetch.ts'

it('what is sent with a login follows no redirect', async () => {
  const seen: string[] = []
  await using other = await listening((request, response) => {
    request.on('data', (piece) => seen.push(String(piece))).on('end', () => response.end())
  })
  await using server = await listening((request, response) =>
    request.resume().on('end', () => response.writeHead(307, { location: other.url }).end()),
  )
  const body = new URLSearchParams({ token: 'secret' })
  expect((await authFetch(server.url)(server.url, { method: 'POST', body })).status).toBe(307)
  expect(seen).toEqual([])
  // Control: what a fetch sends there by itself.
  await fetch(server.url, { method: 'POST', body })
  expect(seen).toEqual(['token=secret'])
})

it.each(['http://example.com/token', 'ftp://example.com', 'http://127.0.0.1:9/'])('%s is refused for a server elsewhere', async (url) => {
  await expect(async () => authFetch('https://example.org')(url)).rejects.toThrow('must have https')
})
