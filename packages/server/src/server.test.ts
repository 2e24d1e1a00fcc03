/** Conversations, approvals and changes over HTTP. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, calls, say } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { isEnd, serving } from './serving.fixture.ts'

const WRITE = call('write_file', { path: 'a.txt', content: 'hello\n' })

it('a conversation: sessions, turns, events, messages, search, rename, delete', async () => {
  await using served = await serving([say('First answer.'), say('Second answer.')])
  const { api, session, dir } = served
  const id = await session()
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ id, cwd: dir, title: '', status: 'idle', turns: [], model: 'any' })
  expect(await api.post(`/api/sessions/${id}/turns`, { prompt: 'one question' })).toMatchObject({
    status: 202,
    body: { turnId: `${id}/1` },
  })
  const events = await api.follow(id, isEnd)
  expect(events.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual(
    events.flatMap(({ id }) => id ?? []).map((_, at) => at + 1),
  )
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['session.created', 'turn.started', 'message.part.delta', 'turn.ended']),
  )
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'and 100%_more' })
  await api.follow(id, isEnd, events.findLast(({ id }) => id)?.id ?? 0)
  const { body } = await api.get(`/api/sessions/${id}`)
  expect(body).toMatchObject({
    title: 'one question',
    turns: [{ status: 'answered', answer: 'First answer.' }, { answer: 'Second answer.' }],
  })
  expect((await api.get(`/api/sessions/${id}/messages`)).body.messages.map(({ role }: { role: string }) => role)).toEqual([
    ...['user', 'assistant', 'user', 'assistant'],
  ])
  const found = async (q: string) => (await api.get(`/api/sessions?q=${encodeURIComponent(q)}`)).body.sessions.length
  expect([await found('SECOND answer'), await found('100%_'), await found('nothing such'), await found('9__%')]).toEqual([1, 1, 0, 0])
  const second = (await api.get('/api/sessions?q=answer&limit=1')).body
  expect(second).toEqual({ sessions: [expect.objectContaining({ id, snippet: 'Second answer.' })] })
  expect((await api.get('/api/sessions?q=answer&limit=1&cursor=1')).body).toEqual({ sessions: [] })
  expect((await api.get('/api/sessions?q=answer&cursor=x')).status).toBe(400)
  expect(await api.send('PATCH', `/api/sessions/${id}`, { title: 'renamed' })).toMatchObject({ status: 204 })
  expect((await api.get('/api/sessions?limit=1')).body).toEqual({ sessions: [expect.objectContaining({ id, title: 'renamed' })] })
  const { events: stored, last } = (await api.get(`/api/sessions/${id}/history.json?after=2&limit=3`)).body
  expect([stored.map(({ id }: { id: number }) => id), last]).toEqual([[3, 4, 5], body.turns.length > 0 ? expect.any(Number) : 0])
  expect(await api.send('DELETE', `/api/sessions/${id}`)).toMatchObject({ status: 204 })
  expect(await api.get(`/api/sessions/${id}`)).toMatchObject({ status: 404, body: { error: { type: 'not_found' } } })
})

it('a turn waits for approval, runs what was shown after it, and its changes can be seen and undone', async () => {
  await using served = await serving([WRITE, say('Written.')])
  const { api, session, dir } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'write it' })
  await api.follow(id, isEnd)
  expect((await api.get(`/api/sessions/${id}`)).body.status).toBe('waiting')
  const [asked] = (await api.get(`/api/approvals?session=${id}`)).body.approvals
  expect(asked).toMatchObject({
    tool: 'write_file',
    effect: 'write',
    target: 'a.txt',
    diff: expect.stringContaining('+hello'),
    status: 'pending',
  })
  expect(asked.offers).toMatchObject({
    session: { text: 'all write_file (write) calls' },
    always: { rules: [expect.any(Array), expect.any(Array)] },
  })
  expect(await api.post(`/api/approvals/${asked.id}`, { answer: 'once', hash: 'other' })).toMatchObject({
    status: 409,
    body: { error: { type: 'stale' } },
  })
  expect(existsSync(join(dir, 'a.txt'))).toBe(false)
  const answers = await Promise.all([1, 2, 3, 4].map(() => api.post(`/api/approvals/${asked.id}`, { answer: 'once', hash: asked.hash })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
  const events = await api.follow(id, ({ type }) => type === 'turn.ended')
  expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1)
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('hello\n')
  expect(await api.post('/api/approvals/unknown', { answer: 'once' })).toMatchObject({ status: 404 })
  expect((await api.get(`/api/sessions/${id}/turns/1/changes`)).body).toMatchObject({
    files: [{ path: 'a.txt', change: 'created' }],
    undone: false,
  })
  expect((await api.post(`/api/sessions/${id}/turns/${encodeURIComponent(`${id}/1`)}/undo`)).body).toEqual({ undone: ['a.txt'], left: [] })
  expect([existsSync(join(dir, 'a.txt')), (await api.get(`/api/sessions/${id}/turns/1/changes`)).body.undone]).toEqual([false, true])
})

it('"session" counts for the rest of the session, also for another server; "no" tells the model why', async () => {
  await using served = await serving([
    WRITE,
    say('One.'),
    call('write_file', { path: 'b.txt', content: 'b\n' }),
    say('Two.'),
    call('make_dir', { path: 'c' }),
    say('Three.'),
  ])
  const { api, session, model } = served
  const id = await session()
  const turn = async (prompt: string) => {
    const { last } = (await api.get(`/api/sessions/${id}/history.json?limit=1`)).body
    await api.post(`/api/sessions/${id}/turns`, { prompt })
    return (await api.follow(id, isEnd, last)).at(-1)?.type
  }
  const answer = async (body: object) => {
    const [asked] = (await api.get('/api/approvals')).body.approvals
    const { last } = (await api.get(`/api/sessions/${id}/history.json?limit=1`)).body
    await api.post(`/api/approvals/${asked.id}`, body)
    return (await api.follow(id, isEnd, last)).at(-1)?.type
  }
  expect([await turn('one'), await answer({ answer: 'session' })]).toEqual(['turn.waiting', 'turn.ended'])
  expect(await turn('two')).toBe('turn.ended')
  expect([await turn('three'), await answer({ answer: 'no', reason: 'no folders' })]).toEqual(['turn.waiting', 'turn.ended'])
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('no folders')
  expect(model.violations).toEqual([])
})

it('a new message declines what waits; abort ends what waits or runs; retry and branch', async () => {
  await using served = await serving([
    WRITE,
    say('Instead.'),
    WRITE,
    say('Once more.'),
    { text: 'never', ...{ fault: { kind: 'hang' } } } as never,
  ])
  const { api, session, model } = served
  const id = await session()
  const last = async (): Promise<number> => (await api.get(`/api/sessions/${id}/history.json?limit=1`)).body.last
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'write' })
  await api.follow(id, isEnd)
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'do not' })
  await api.follow(id, (event) => event.type === 'turn.ended' && event.outcome.answer === 'Instead.')
  expect([(await api.get('/api/approvals')).body.approvals, model.violations]).toEqual([[], []])
  const from = await last()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'again' })
  await api.follow(id, isEnd, from)
  expect((await api.post(`/api/sessions/${id}/abort`)).body).toEqual({ aborted: true })
  expect((await api.post(`/api/sessions/${id}/abort`)).body).toEqual({ aborted: false })
  expect((await api.get(`/api/sessions/${id}`)).body.turns.map(({ status }: { status: string }) => status)).toEqual([
    'cancelled',
    'answered',
    'cancelled',
  ])
  const before = await last()
  expect(await api.post(`/api/sessions/${id}/retry`)).toMatchObject({ status: 202, body: { turnId: `${id}/4` } })
  await api.follow(id, (event) => event.type === 'turn.ended' && (event.id ?? 0) > before, before)
  const branch = (await api.post(`/api/sessions/${id}/branch`, { turnId: `${id}/2` })).body.id
  expect((await api.get(`/api/sessions/${branch}`)).body.turns).toHaveLength(1)
})

it('a POST that is repeated with its key has one effect and one answer', async () => {
  await using served = await serving([say('Once.')])
  const { api, session, model } = served
  const id = await session()
  const start = (prompt: string) => api.post(`/api/sessions/${id}/turns`, { prompt }, { 'idempotency-key': 'k1' })
  const first = await start('go')
  await api.follow(id, isEnd)
  expect([await start('go').then(({ body }) => body), (await start('other')).status]).toEqual([first.body, 422])
  expect(model.requests).toHaveLength(1)
  const wrong = () => api.post(`/api/sessions/nothing/turns`, { prompt: 'go' }, { 'idempotency-key': 'k2' })
  expect([(await wrong()).status, (await wrong()).status]).toEqual([404, 404])
})

it('says what is wrong with a request', async () => {
  await using served = await serving([calls()])
  const { api, session, dir } = served
  const id = await session()
  expect(await api.post('/api/sessions', { cwd: 'relative' })).toMatchObject({
    status: 422,
    body: { error: { message: expect.stringContaining('absolute') } },
  })
  expect(await api.post('/api/sessions', { cwd: `${dir}/nothing` })).toMatchObject({ status: 422 })
  expect(await api.post(`/api/sessions/${id}/turns`, { prompt: '' })).toMatchObject({
    status: 422,
    body: { error: { type: 'validation' } },
  })
  expect(await api.get('/api/sessions?limit=no')).toMatchObject({ status: 400 })
  expect(await api.get(`/api/sessions/${id}/events?after=x`)).toMatchObject({ status: 400 })
  expect(await api.get('/api/nothing')).toMatchObject({ status: 404, body: { error: { type: 'not_found' } } })
  const lost = (await api.post('/api/sessions', { cwd: dir, model: 'nowhere/model' })).body.id
  expect(await api.post(`/api/sessions/${lost}/turns`, { prompt: 'go' })).toMatchObject({
    status: 422,
    body: { error: { type: 'config', hint: expect.any(String) } },
  })
})

it('describes itself: health, readiness, metrics, OpenAPI', async () => {
  await using served = await serving([say('Hi.')])
  const { api, server, session } = served
  expect((await api.get('/health')).body).toMatchObject({ status: 'ok' })
  expect((await api.get('/ready')).body).toEqual({ status: 'ready', checks: { store: true, accepting: true } })
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })
  await api.follow(id, isEnd)
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } })).text()
  expect(metrics).toContain('mulligan_turns_total{status="answered"} 1')
  const { body: document } = await api.get('/openapi.json')
  expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/api/approvals/{id}': { post: { requestBody: expect.anything() } } } })
})
