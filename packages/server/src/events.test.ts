/** The event stream: resumed after a cut at any byte, joined in the middle, and read slowly. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentEvent, memoryStore, openStore } from '@mulligan/agent'
import { call, calls, say } from '@mulligan/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { samples } from '../../../scripts/test-scope.fixture.ts'
import { streamEvents } from './event-source.ts'
import { createFeed } from './feed.ts'
import { isEnd, parsed, type Sent, serving } from './serving.fixture.ts'
import { eventStream } from './sse.ts'
import { uiMessageStream } from './ui-messages/stream.ts'

const event = (id: number): AgentEvent => ({
  type: 'warning',
  message: `${id} ✓`.repeat(id % 7),
  id,
  sessionId: 's',
  turnId: 's/1',
  at: id,
})

it('cut at any byte and resumed after the last id, no event is lost or sent twice', async () => {
  await using served = await serving([
    calls(['tree', {}], ['list_dir', {}]),
    call('read_file', { path: 'nothing' }),
    say('An answer with ✓ in it.'),
  ])
  const { api, server, session } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
  await api.follow(id, isEnd)
  const whole = (await api.get(`/api/sessions/${id}/history.json`)).body.events as AgentEvent[]
  const read = async (after: number, cutAt: number): Promise<{ readonly sent: readonly Sent[]; readonly isSynced: boolean }> => {
    const stop = new AbortController()
    const response = await fetch(`${server.url}/api/sessions/${id}/events`, {
      headers: { authorization: `Bearer ${server.token}`, 'last-event-id': String(after) },
      signal: stop.signal,
    })
    const sent: Sent[] = []
    const cut = async function* () {
      let left = cutAt
      for await (const chunk of response.body ?? []) {
        yield chunk.subarray(0, left)
        left -= chunk.byteLength
        if (left <= 0) return
      }
    }
    for await (const one of parsed(cut())) {
      sent.push(one)
      if (one.event === 'synced') break
    }
    stop.abort()
    return { sent, isSynced: sent.at(-1)?.event === 'synced' }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12_000 }), { maxLength: 5 }), async (cuts) => {
      const got: AgentEvent[] = []
      for (const cut of [...cuts, Number.POSITIVE_INFINITY]) {
        const { sent, isSynced } = await read(got.at(-1)?.id ?? 0, cut)
        for (const one of sent) if (one.id !== undefined) got.push(JSON.parse(one.data))
        if (isSynced) break
      }
      expect(got).toEqual(whole)
    }),
    { numRuns: samples(25, 300) },
  )
})

it('events that are stored while the store is read come once and in order, whatever the timing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 15 }), async (s, before, after) => {
      const store = memoryStore()
      await store.createSession({ id: 's', cwd: '/', title: '' })
      for (let id = 1; id <= before; id++) await store.append([event(id)], true)
      const slow = {
        ...store,
        events: s.scheduleFunction(store.events),
        lastEventId: s.scheduleFunction(store.lastEventId),
        settled: s.scheduleFunction(store.settled),
      }
      const feed = createFeed(slow, 's')
      const got: number[] = []
      let resets = 0
      const stop = new AbortController()
      const done = streamEvents({
        ...{ store: slow, feed, sessionId: 's', after, signal: stop.signal },
        send: (one) => {
          if (one.kind === 'reset') resets++
          if (one.kind === 'event') got.push(one.event.id ?? 0)
          return true
        },
      })
      const writing = s.scheduleSequence(
        Array.from({ length: 8 }, (_, at) => async () => {
          feed.push(event(before + at + 1))
          await store.append([event(before + at + 1)], true)
        }),
      )
      await s.waitFor(Promise.all([writing.task, sleep(0)]))
      await s.waitFor(sleep(1))
      stop.abort()
      await s.waitFor(done)
      const last = before + 8
      const from = resets > 0 ? 0 : after
      expect(got).toEqual(Array.from({ length: Math.max(0, last - from) }, (_, at) => from + at + 1))
    }),
    { numRuns: samples(100, 2000) },
  )
})

it('a cursor that is ahead of the session is reset, and everything comes again', async () => {
  await using served = await serving([say('Hi.')])
  const { api, server, session } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
  await api.follow(id, isEnd)
  const response = await fetch(`${server.url}/api/sessions/${id}/events?after=900`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  const names: string[] = []
  for await (const { event } of parsed(response.body as never)) {
    names.push(event)
    if (event === 'synced') break
  }
  expect([names[0], names[1], names.at(-1)]).toEqual(['reset', 'session.created', 'synced'])
  expect(await api.get('/api/sessions/nothing/events')).toMatchObject({ status: 404 })
})

it('who joins in the middle of a message gets what it says so far, once', async () => {
  await using served = await serving([{ text: ['One. ', 'Two. ', 'Three. ', 'Four. '], fault: { slow: 0, perChunk: 60 } }])
  const { api, session } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
  const textOf = (events: readonly AgentEvent[]) => events.map((one) => (one.type === 'message.part.delta' ? one.text : '')).join('')
  const first = api.follow(id, isEnd)
  await api.follow(id, (one) => one.type === 'message.part.delta')
  const joined = await Promise.all([1, 2, 3].map(() => api.follow(id, isEnd)))
  for (const events of [await first, ...joined]) expect(textOf(events)).toBe('One. Two. Three. Four. ')
})

it('a client that reads too slowly is disconnected, and loses nothing when it comes back', async () => {
  const store = memoryStore()
  await store.createSession({ id: 's', cwd: '/', title: '' })
  const feed = createFeed(store, 's')
  const open = (after: number) => {
    const ended = Promise.withResolvers<boolean>()
    const response = eventStream({ store, feed, sessionId: 's', after }, new AbortController().signal, ended.resolve)
    return { body: response.body as ReadableStream<Uint8Array>, ended: ended.promise }
  }
  const { body, ended } = open(0)
  const reader = body.getReader()
  await reader.read()
  const big = (id: number): AgentEvent => ({ type: 'warning', message: 'x'.repeat(100_000), id, sessionId: 's', turnId: 's/1', at: id })
  for (let id = 1; id <= 30; id++) {
    feed.push(big(id))
    await store.append([big(id)], true)
  }
  expect(await ended).toBe(true)
  reader.releaseLock()
  const ids: number[] = []
  for await (const { id } of parsed(body)) if (id !== undefined) ids.push(Number(id))
  expect(ids.length).toBeLessThan(30)
  for await (const { id, event } of parsed(open(ids.at(-1) ?? 0).body)) {
    if (event === 'synced') break
    ids.push(Number(id))
  }
  expect(ids).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
})

it('a client that stops reading while it is sent what is stored is disconnected, too', async () => {
  const store = memoryStore()
  await store.createSession({ id: 's', cwd: '/', title: '' })
  const big = (id: number): AgentEvent => ({ type: 'warning', message: 'x'.repeat(50_000), id, sessionId: 's', turnId: 's/1', at: id })
  await store.append(
    Array.from({ length: 20 }, (_, at) => big(at + 1)),
    true,
  )
  const open = (heartbeat: number) => {
    const ended = Promise.withResolvers<boolean>()
    const source = { store, feed: createFeed(store, 's'), sessionId: 's', after: 0 }
    const { body } = eventStream(source, new AbortController().signal, ended.resolve, heartbeat)
    return { body: body as ReadableStream<Uint8Array>, ended: ended.promise }
  }
  const stalled = open(20)
  expect(await stalled.ended).toBe(true)
  // One that reads is sent everything.
  const ids: string[] = []
  for await (const { id, event } of parsed(open(60_000).body)) {
    if (event === 'synced') break
    ids.push(id ?? '')
  }
  expect(ids).toHaveLength(20)
})

it('a client of the chat that stops reading is disconnected, too', async () => {
  const store = memoryStore()
  await store.createSession({ id: 's', cwd: '/', title: '' })
  const at = { sessionId: 's', turnId: 's/1', at: 1 }
  const said = Array.from({ length: 20 }, (_, n): AgentEvent => ({ ...at, type: 'warning', message: 'x'.repeat(50_000), id: n + 1 }))
  await store.append(said, true)
  const open = (heartbeat: number, signal = new AbortController().signal) => {
    const cut = Promise.withResolvers<void>()
    const feed = createFeed(store, 's')
    const { body } = uiMessageStream({ store, feed, sessionId: 's', turnId: 's/1', before: 0 }, signal, cut.resolve, heartbeat)
    return { body: body as ReadableStream<Uint8Array>, cut: cut.promise, feed }
  }
  const stalled = open(20)
  await stalled.cut
  await expect.poll(stalled.feed.listeners).toBe(0)
  // One that reads is sent everything, and stays.
  const stop = new AbortController()
  const reads = open(60_000, stop.signal)
  let bytes = 0
  for await (const piece of reads.body) {
    bytes += piece.byteLength
    if (bytes > 20 * 50_000) break
  }
  expect(bytes).toBeGreaterThan(20 * 50_000)
  stop.abort()
})

it('HEAD of a stream opens none', async () => {
  await using served = await serving([])
  const { api, server, session } = served
  const headers = { authorization: `Bearer ${server.token}` }
  const answer = await fetch(`${server.url}/api/sessions/${await session()}/events`, { method: 'HEAD', headers })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
  const metrics = await (await fetch(`${server.url}/metrics`, { headers })).text()
  expect(metrics).toMatch(/^mulligan_event_streams 0$/m)
  expect((await api.get('/api/sessions')).status).toBe(200)
})

it('over a connection that is not read, a client is disconnected, and comes back for the rest', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-slow-'))
  const store = await openStore(join(root, 'store.db'))
  await using served = await serving([], { store })
  const { server, session } = served
  const id = await session()
  const request = (after: number) =>
    `GET /api/sessions/${id}/events?after=${after} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n\r\n`
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined)
  socket.write(request(0))
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  const last = 200
  for (let at = 1; at <= last; at++)
    await store.append([{ type: 'warning', message: 'x'.repeat(100_000), id: at, sessionId: id, turnId: `${id}/1`, at }], at % 50 === 0)
  const metrics = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } })).text()
  await expect.poll(metrics, { timeout: 30_000 }).toContain('evicted_total 1')
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
  })
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  const ids = [...got.matchAll(/^id: (\d+)\nevent: \w+\ndata: .*\n\n/gm)].map(([, one]) => Number(one))
  expect(ids.length).toBeLessThan(last)
  const rest = await served.api.follow(id, (event) => event.id === last, ids.at(-1) ?? 0)
  expect([...ids, ...rest.map((event) => event.id)]).toEqual(Array.from({ length: last }, (_, at) => at + 1))
  rmSync(root, { recursive: true, force: true })
}, 60_000)

it('events of a turn in another process arrive too', async () => {
  const store = memoryStore()
  await store.createSession({ id: 's', cwd: '/', title: '' })
  const got: number[] = []
  const stop = new AbortController()
  const done = streamEvents({
    ...{ store, feed: createFeed(store, 's'), sessionId: 's', after: 0, signal: stop.signal },
    send: (one) => {
      if (one.kind === 'synced') void store.append([event(1), event(2)], true)
      if (one.kind === 'event') got.push(one.event.id ?? 0)
      if (got.length === 2) stop.abort()
      return true
    },
  })
  await done
  expect(got).toEqual([1, 2])
})
