/** A question outlives its server: asked, killed with SIGKILL, started again, answered by plain HTTP. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openStore } from '@mulligan/agent'
import { call, say, scriptedModel } from '@mulligan/testing'
import { afterAll, expect, it } from 'vitest'
import { postgres, stopPostgres } from '../../../agent/src/store/dialects.fixture.ts'
import { hasPostgres } from '../../../agent/src/store/postgres.fixture.ts'
import { byTask } from '../../../agent/src/tasks/tasks.fixture.ts'
import { isEnd, serving } from '../serving.fixture.ts'
import { type KilledServer, killedServer } from './killed-server.fixture.ts'

const run = promisify(execFile)
const CURL = '/usr/bin/curl'
const LONG = 120_000
const WRITE = call('write_file', { path: 'a.txt', content: 'hello\n' })

afterAll(stopPostgres)

async function place(stores: 'sqlite' | 'postgres', servers: number) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-waits-')))
  const [dir, home] = ['work', 'home'].map((name) => join(root, name)) as [string, string]
  for (const folder of [dir, home]) mkdirSync(folder)
  const store = stores === 'sqlite' ? join(root, 'store.db') : await (await postgres()).database()
  const all = Array.from({ length: servers }, () => killedServer({ store, home }))
  for (const server of all) await server.start()
  return {
    dir,
    servers: all as [KilledServer, ...KilledServer[]],
    [Symbol.asyncDispose]: async () => {
      for (const server of all) await server.kill()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Sends a request with `curl`, as a person would. */
async function curl(server: KilledServer, path: string, body?: object): Promise<{ readonly status: number; readonly body: never }> {
  const data = body === undefined ? [] : ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)]
  const { stdout } = await run(CURL, [
    ...['-s', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${server.token}`, ...data, `${server.url()}${path}`],
  ])
  const at = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(at + 1)), body: JSON.parse(stdout.slice(0, at)) as never }
}

/** Runs a turn up to its question. */
async function asking(server: KilledServer, dir: string, baseUrl: string) {
  const api = server.api()
  const id: string = (await api.post('/api/sessions', { cwd: dir, model: 'any', baseUrl })).body.id
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'write it' })
  await api.follow(id, isEnd)
  const [asked] = (await api.get(`/api/approvals?session=${id}`)).body.approvals
  return { id, asked }
}

it.skipIf(!existsSync(CURL) && !process.env['CI'])(
  'asked, killed, started again, answered by curl: the turn ends with one effect',
  async () => {
    await using model = await scriptedModel([WRITE, say('Written.')])
    await using here = await place('sqlite', 1)
    const [server] = here.servers
    const { id, asked } = await asking(server, here.dir, model.url)
    await server.kill()
    expect(existsSync(join(here.dir, 'a.txt'))).toBe(false)
    await server.start()
    expect((await curl(server, `/api/approvals/${asked.id}`)).body).toMatchObject({
      status: 'pending',
      diff: expect.stringContaining('+hello'),
    })
    expect(await curl(server, `/api/approvals/${asked.id}`, { answer: 'once', hash: asked.hash })).toMatchObject({ status: 200 })
    const events = await server.api().follow(id, ({ type }) => type === 'turn.ended')
    expect(events.at(-1)).toMatchObject({ outcome: { status: 'answered', answer: 'Written.' } })
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1)
    expect(readFileSync(join(here.dir, 'a.txt'), 'utf8')).toBe('hello\n')
    expect(await curl(server, `/api/approvals/${asked.id}`, { answer: 'once' })).toMatchObject({ status: 409 })
    expect(await curl(server, '/api/approvals/unknown', { answer: 'once' })).toMatchObject({ status: 404 })
    expect([model.violations, model.requests.length]).toEqual([[], 2])
  },
  LONG,
)

it.skipIf(!hasPostgres)(
  'asked by one server and answered at another at once from many clients, also after the first was killed: one effect',
  async () => {
    await using model = await scriptedModel([WRITE, say('Written.')])
    await using here = await place('postgres', 2)
    const [first, second] = here.servers as [KilledServer, KilledServer]
    const { id, asked } = await asking(first, here.dir, model.url)
    await first.kill()
    await first.start()
    const answers = await Promise.all(
      [first, second, first, second].map((server) => server.api().post(`/api/approvals/${asked.id}`, { answer: 'once' })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
    const ends = await Promise.all(here.servers.map((server) => server.api().follow(id, ({ type }) => type === 'turn.ended')))
    for (const events of ends) {
      expect(events.at(-1)).toMatchObject({ outcome: { status: 'answered', answer: 'Written.' } })
      expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1)
    }
    expect(model.requests).toHaveLength(2)
  },
  LONG,
)

it('a question of a task waits with the name of its agent, and its answer lets the task go on', async () => {
  const model = byTask({
    'the work': [call('task', { agent: 'general', task: 'A: write a.txt' }), say('All is done.')],
    'A:': [WRITE, say('Written.')],
  })
  await using served = await serving(model)
  const { api, session, dir } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'do the work' })
  await api.follow(id, isEnd)
  const [asked, ...more] = (await api.get(`/api/approvals?session=${id}`)).body.approvals
  expect(asked).toMatchObject({ agent: 'general', tool: 'write_file', turnId: `${id}/1`, diff: expect.stringContaining('+hello') })
  expect([more, existsSync(join(dir, 'a.txt'))]).toEqual([[], false])
  await api.post(`/api/approvals/${asked.id}`, { answer: 'once', hash: asked.hash })
  const events = await api.follow(id, ({ type }) => type === 'turn.ended')
  expect(events.at(-1)).toMatchObject({ outcome: { status: 'answered', answer: 'All is done.' } })
  expect([readFileSync(join(dir, 'a.txt'), 'utf8'), served.model.violations]).toEqual(['hello\n', []])
})

it('a question that has expired is refused, and asked again as things are then', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-waits-'))
  const store = await openStore(join(root, 'store.db'))
  await using served = await serving([WRITE, say('Written.')], { store })
  const { api, session, dir } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'write it' })
  const { length } = await api.follow(id, isEnd)
  const [asked] = (await api.get('/api/approvals')).body.approvals
  await store.expire(Date.now() + 1)
  expect(await api.post(`/api/approvals/${asked.id}`, { answer: 'once' })).toMatchObject({
    status: 409,
    body: { error: { type: 'expired', hint: expect.stringContaining('GET /api/approvals') } },
  })
  await api.follow(id, ({ type }) => type === 'turn.waiting', length)
  const [again] = (await api.get('/api/approvals')).body.approvals
  expect([again.id === asked.id, again.hash, existsSync(join(dir, 'a.txt'))]).toEqual([false, asked.hash, false])
  await api.post(`/api/approvals/${again.id}`, { answer: 'once' })
  const events = await api.follow(id, ({ type }) => type === 'turn.ended')
  expect(events.at(-1)).toMatchObject({ outcome: { answer: 'Written.' } })
  rmSync(root, { recursive: true, force: true })
})

it('a question expires by itself', async () => {
  await using served = await serving([WRITE], { askedFor: 0 })
  const { api, session } = served
  const id = await session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'write it' })
  const asked = (await api.follow(id, ({ type }) => type === 'turn.waiting')).at(-1)
  const [first] = asked?.type === 'turn.waiting' ? asked.approvals : []
  await api.follow(id, (event) => event.type === 'turn.waiting' && event.approvals[0] !== first)
  expect((await api.get(`/api/approvals/${first}`)).body).toMatchObject({ status: 'expired' })
})

it('a request that was cut off when its server ended finds the turn that it began, and begins one if it had not', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-waits-'))
  const store = await openStore(join(root, 'store.db'))
  const cutOff: typeof store.reserve = async (_, fingerprint) => ({ fingerprint, isCutOff: true })
  let isCutOff = false
  await using served = await serving([say('One.'), say('Two.')], {
    store: { ...store, reserve: (...args) => (isCutOff ? cutOff(...args) : store.reserve(...args)) },
  })
  const { api, session, model } = served
  const id = await session()
  const start = (key: string) => api.post(`/api/sessions/${id}/turns`, { prompt: 'go' }, { 'idempotency-key': key })
  expect((await start('a')).body).toEqual({ turnId: `${id}/1` })
  const { length } = await api.follow(id, isEnd)
  isCutOff = true
  expect((await start('a')).body).toEqual({ turnId: `${id}/1` })
  expect(model.requests).toHaveLength(1)
  expect((await start('b')).body).toEqual({ turnId: `${id}/2` })
  await api.follow(id, isEnd, length)
  expect(model.requests).toHaveLength(2)
  rmSync(root, { recursive: true, force: true })
})
