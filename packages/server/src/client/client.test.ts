/** The client against a real server, over connections that break anywhere. */
import { call, calls, say } from '@mulligan/testing'
import fc from 'fast-check'
import { expect, expectTypeOf, it } from 'vitest'
import { listening } from '../../../../scripts/listening.fixture.ts'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import { type Approval, type Client, createClient, type StreamItem } from '../client.ts'
import { CONTRACT } from '../contract.ts'
import { type Serving, serving } from '../serving.fixture.ts'

const clientOf = ({ server: { url, token } }: Serving, fetch?: typeof globalThis.fetch): Client =>
  createClient({ url, token, ...(fetch && { fetch }) })

async function until(items: AsyncGenerator<StreamItem>, isLast: (item: StreamItem) => boolean): Promise<StreamItem[]> {
  const got: StreamItem[] = []
  for await (const item of items) {
    got.push(item)
    if (isLast(item)) break
  }
  return got
}

const isOver = (item: StreamItem): boolean =>
  item.kind === 'event' && (item.event.type === 'turn.ended' || item.event.type === 'turn.waiting')

it('holds a conversation with an answer in between', async () => {
  await using served = await serving([call('write_file', { path: 'a b.txt', content: 'x' }), say('Done.')])
  const client = clientOf(served)
  expect(await client.health()).toMatchObject({ status: 'ok' })
  const { id } = await client.call('POST /api/sessions', { body: { cwd: served.dir, model: 'any', baseUrl: served.model.url } })
  await client.call('POST /api/sessions/:id/turns', { params: { id }, body: { prompt: 'go' } })
  await until(client.events(id), isOver)
  const { approvals } = await client.call('GET /api/approvals', { query: { session: id } })
  expectTypeOf(approvals).toEqualTypeOf<Approval[]>()
  const [asked] = approvals
  await client.call('POST /api/approvals/:id', { params: { id: asked?.id ?? '' }, body: { answer: 'once', hash: asked?.hash } })
  await until(client.events(id), (item) => item.kind === 'event' && item.event.type === 'turn.ended')
  const { turns } = await client.call('GET /api/sessions/:id', { params: { id } })
  expect(turns).toMatchObject([{ status: 'answered', answer: 'Done.' }])
  expect(await client.call('PATCH /api/sessions/:id', { params: { id }, body: { title: 'new' } })).toBeUndefined()
})

it('a call that is repeated with its key has one effect', async () => {
  await using served = await serving([say('Once.')])
  const client = clientOf(served)
  const id = await served.session()
  const send = () => client.call('POST /api/sessions/:id/turns', { params: { id }, body: { prompt: 'go' }, idempotencyKey: 'k' })
  expect(await send()).toEqual(await send())
})

it('says why something failed: refused, unknown, unreachable, not a Mulligan server', async () => {
  await using served = await serving([])
  const { url } = served.server
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )
  expect(await failure(clientOf(served).call('GET /api/sessions/:id', { params: { id: '../../x' } }))).toMatchObject({
    ...{ status: 404, type: 'not_found' },
  })
  const stranger = createClient({ url, token: 'wrong' })
  expect(await failure(stranger.call('GET /api/sessions'))).toMatchObject({ status: 401, type: 'unauthorized', hint: expect.any(String) })
  expect(await failure(until(stranger.events('x'), () => true))).toMatchObject({ status: 401 })
  expect(await failure(until(clientOf(served).events('unknown'), () => true))).toMatchObject({ status: 404 })
  const nobody = createClient({ url: 'http://127.0.0.1:1', token: 't' })
  expect(await failure(nobody.health())).toMatchObject({ status: 0, type: 'unreachable' })
  const other = createClient({ url: served.model.url, token: 't' })
  expect(await failure(other.health())).toMatchObject({ name: 'ServerError' })
})

it('follows no redirect: what is said and the token stay with the server', async () => {
  const seen: string[] = []
  await using other = await listening((request, response) => {
    request.on('data', (piece) => seen.push(String(piece))).on('end', () => response.end('{"id":"other"}'))
    seen.push(`${request.url} ${request.headers.authorization}`)
  })
  let status = 307
  await using server = await listening((request, response) =>
    request.resume().on('end', () => response.writeHead(status, { location: `${other.url}${request.url}` }).end()),
  )
  const client = createClient({ url: server.url, token: 'secret' })
  for (status of [301, 302, 303, 307, 308]) {
    const work = client.call('POST /api/sessions/:id/turns', { params: { id: 's' }, body: { prompt: 'private' } })
    await expect(work).rejects.toMatchObject({ status, type: 'unknown', message: expect.stringContaining('redirects') })
  }
  await expect(client.health()).rejects.toMatchObject({ status: 308 })
  expect(seen).toEqual([])
  // Control: what a fetch sends there by itself.
  status = 307
  await fetch(`${server.url}/x`, { method: 'POST', body: 'private' })
  expect(seen.join(' ')).toContain('private')
})

it('an error of something else than a server of ours is one too', async () => {
  for (const body of ['null', '{"error":7}', '{"error":null}', '{"error":{"type":{},"message":["x"],"hint":1}}', '<html>', '']) {
    await using server = await listening((_, response) => response.writeHead(500).end(body))
    await expect(createClient({ url: server.url, token: 't' }).health()).rejects.toMatchObject({
      ...{ status: 500, type: 'unknown', message: 'the server answered 500', hint: undefined },
    })
  }
})

it('a stream whose connections break at any byte has every stored event once, in order', async () => {
  await using served = await serving([calls(['tree', {}], ['list_dir', {}]), call('read_file', { path: 'nothing' }), say('✓ Done.')])
  const id = await served.session()
  await served.api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
  const whole = await until(clientOf(served).events(id), isOver)
  const ids = whole.flatMap((item) => (item.kind === 'event' && item.event.id !== undefined ? [item.event.id] : []))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9000 }), { minLength: 1, maxLength: 2 }), async (cuts) => {
      const left = [...cuts]
      const client = clientOf(served, async (...given) => {
        const response = await fetch(...given)
        const cut = left.shift()
        if (cut === undefined || !response.body) return response
        return new Response(response.body.pipeThrough(cutAt(cut)), response)
      })
      const got = await until(client.events(id), isOver)
      expect(got.flatMap((item) => (item.kind === 'event' && item.event.id !== undefined ? [item.event.id] : []))).toEqual(ids)
    }),
    { numRuns: samples(8, 100) },
  )
})

/** Breaks a connection after some bytes. */
function cutAt(most: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let left = most
  return new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.byteLength
      if (left <= 0) controller.error(new TypeError('the connection broke'))
    },
  })
}

it('has every endpoint of the contract', () => {
  expectTypeOf<Parameters<Client['call']>[0]>().toExtend<keyof typeof CONTRACT>()
  expect(Object.entries(CONTRACT).filter(([, endpoint]) => 'stream' in endpoint)).toHaveLength(3)
})
