/** Measures `mulligan serve`: event streams, many turns at once beside the AI SDK's loop behind Hono, and a long session. */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { type Api, apiOf } from '../../packages/server/src/serving.fixture.ts'
import { median, p99 } from '../stats.ts'
import type { Row, Table } from '../table.ts'
import type { Usage } from './usage.ts'

const CLIENTS = 1000
const TURNS = 200
const STEPS = 5
const ROUNDS = 3
/** Steps of the long session, in turns of ten. */
const LONG = 1000
const PER_TURN = 10
/** Steps of another session before it, for the compiler. */
const WARM_UP = 500

interface Program {
  readonly url: string
  readonly usage: () => Promise<Usage>
  readonly end: () => void
}

interface Here {
  readonly server: Program
  readonly rival: Program
  readonly api: Api
  readonly token: string
  readonly model: ScriptedModel
  readonly dir: string
  /** Returns how many turns have ended, without asking the server. */
  readonly ended: () => number
  /** Returns the characters of the last request's messages. */
  readonly sent: () => number
}

/** Starts a program of this folder. It is asked over IPC, which costs it next to nothing. */
async function started(name: string, settings: object = {}): Promise<Program> {
  const child = fork(join(import.meta.dirname, name), { env: { ...process.env, BENCH_SERVER: JSON.stringify(settings) } })
  const told = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)))
  const { url } = await told<{ readonly url: string }>()
  const usage = (): Promise<Usage> => {
    child.send('usage')
    return told()
  }
  return { url, usage, end: () => child.disconnect() }
}

const sessionOf = async ({ api, dir, model }: Here): Promise<string> =>
  (await api.post('/api/sessions', { cwd: dir, model: 'any', baseUrl: model.url })).body.id

/** Creates sessions, some at once. */
async function sessionsOf(here: Here, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  while (ids.length < count)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(50, count - ids.length) }, () => sessionOf(here)))))
  return ids
}

/** Runs a turn in each session at once. */
async function turns({ api, ended }: Here, ids: readonly string[], steps: number): Promise<void> {
  const before = ended()
  const start = async (id: string): Promise<void> => {
    // A turn is stored as ended just before its session is free.
    while ((await api.post(`/api/sessions/${id}/turns`, { prompt: `do ${steps} steps` })).status === 409) await sleep(1)
  }
  await Promise.all(ids.map(start))
  while (ended() < before + ids.length) await sleep(5)
}

/** Runs a turn of the rival. @param session what was said in it before is sent too, up to `keep` characters */
async function rivalTurn({ rival, model, dir }: Here, steps: number, session?: string, keep?: number): Promise<void> {
  const body = JSON.stringify({ prompt: `do ${steps} steps`, baseUrl: model.url, cwd: dir, session, keep })
  const response = await fetch(`${rival.url}/turn`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (!response.ok) throw new Error(`the rival failed: ${await response.text()}`)
  await response.text()
}

/** Opens an event stream. @param took called with the lag of each event, in milliseconds */
function listen({ server, token }: Here, id: string, took: (lag: number) => void): Promise<() => void> {
  const url = `${server.url}/api/sessions/${id}/events`
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
      let isLive = false
      response.setEncoding('utf8').on('data', (text: string) => {
        const now = Date.now()
        if (isLive) for (const [, at] of text.matchAll(/"at":(\d{13})\}\n/g)) took(now - Number(at))
        if (!text.includes('event: synced')) return
        isLive = true
        resolve(() => sent.destroy())
      })
      response.on('error', () => undefined)
    })
    sent.on('error', reject).end()
  })
}

async function streams(here: Here): Promise<readonly Row[]> {
  const [id = '', ...others] = await sessionsOf(here, CLIENTS + 1)
  await turns(here, [id], STEPS)
  const lags: number[] = []
  const single = await listen(here, id, (lag) => lags.push(lag))
  await turns(here, [id], STEPS)
  single()
  const alone = [...lags]
  lags.length = 0
  const before = (await here.server.usage()).memory
  const open: (() => void)[] = []
  for (let n = 0; n < CLIENTS; n += 50)
    open.push(...(await Promise.all(Array.from({ length: 50 }, () => listen(here, id, (lag) => lags.push(lag))))))
  const after = (await here.server.usage()).memory
  await turns(here, [id], STEPS)
  await sleep(500)
  for (const end of open) end()
  const read = (await here.server.usage()).memory
  for (const other of others) await here.api.get(`/api/sessions/${other}`)
  const idle = (await here.server.usage()).memory
  const row = (subject: string, all: readonly number[]): Row => ({ subject, values: { 'lag p50 ms': median(all), 'lag p99 ms': p99(all) } })
  return [
    row('one client', alone),
    row(`${CLIENTS} clients of one session`, lags),
    { subject: 'a client', values: { 'memory kB': (after - before) / CLIENTS / 1000 } },
    { subject: 'an idle session', values: { 'memory kB': Math.max(0, idle - read) / CLIENTS / 1000 } },
  ]
}

export async function atOnce(here: Here): Promise<readonly Row[]> {
  const ids = await sessionsOf(here, TURNS)
  const ours: { ms: number; cpu: number }[] = []
  const bare: { ms: number; cpu: number }[] = []
  async function measured(into: typeof ours, { usage }: Program, work: () => Promise<unknown>): Promise<void> {
    const [{ cpu: from }, start] = [await usage(), performance.now()]
    await work()
    into.push({ ms: performance.now() - start, cpu: (await usage()).cpu - from })
  }
  for (let round = 0; round <= ROUNDS; round++) {
    await measured(ours, here.server, () => turns(here, ids, STEPS))
    await measured(bare, here.rival, () => Promise.all(ids.map(() => rivalTurn(here, STEPS))))
  }
  const values = (all: typeof ours) => ({
    'turns/s': TURNS / (median(all.map(({ ms }) => ms)) / 1000),
    'CPU per step ms': median(all.map(({ cpu }) => cpu)) / TURNS / STEPS,
  })
  const [first, ...warm] = ours
  const [, ...rivals] = bare
  const ratio = values(warm)['CPU per step ms'] / values(rivals)['CPU per step ms']
  return [
    { subject: `${TURNS} turns at once, new sessions`, values: values(first ? [first] : []) },
    { subject: `${TURNS} turns at once`, values: { ...values(warm), 'ratio to bare': ratio } },
    { subject: `${TURNS} turns at once, AI SDK behind Hono, nothing stored`, values: { ...values(rivals), 'ratio to bare': 1 } },
  ]
}

/** The rival sends requests of the same size, so that what its steps cost more is due to the size alone. */
export async function long(here: Here): Promise<readonly Row[]> {
  const id = await sessionOf(here)
  const ours: number[] = []
  const bare: number[] = []
  const sizes: number[] = []
  async function perStep({ usage }: Program, turn: () => Promise<void>): Promise<number> {
    const { cpu } = await usage()
    await turn()
    return ((await usage()).cpu - cpu) / PER_TURN
  }
  const other = await sessionOf(here)
  for (let step = 0; step < WARM_UP; step += PER_TURN) {
    await turns(here, [other], PER_TURN)
    await rivalTurn(here, PER_TURN, other, here.sent())
  }
  for (let step = 0; step < LONG; step += PER_TURN) {
    ours.push(await perStep(here.server, () => turns(here, [id], PER_TURN)))
    const size = here.sent()
    sizes.push(size / 1000)
    bare.push(await perStep(here.rival, () => rivalTurn(here, PER_TURN, id, size)))
  }
  const row = (subject: string, from: number, to: number | undefined): Row => {
    const [mine, floor, size] = [ours, bare, sizes].map((all) => median(all.slice(from, to))) as [number, number, number]
    return { subject, values: { 'CPU per step ms': mine, 'bare, same size ms': floor, 'messages kB': size } }
  }
  const [early, late] = [row('steps 10–110 of a session', 1, 11), row(`steps ${LONG - 100}–${LONG} of a session`, -10, undefined)]
  const ratio = (late.values['CPU per step ms'] ?? 0) / (early.values['CPU per step ms'] ?? 1)
  const aim = { says: 'ratio ≤ 1.5', met: ratio <= 1.5 }
  return [early, { ...late, values: { ...late.values, 'ratio to the first': ratio }, aim }]
}

type Part = (here: Here) => Promise<readonly Row[]>

export async function bench(parts: readonly Part[] = [streams, atOnce, long]): Promise<Table> {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const [dir, home] = ['work', 'home'].map((name) => join(root, name)) as [string, string]
  for (const folder of [dir, home]) mkdirSync(folder)
  for (let n = 0; n < PER_TURN; n++) {
    mkdirSync(join(dir, `folder-${n}`))
    writeFileSync(join(dir, `folder-${n}`, 'a.txt'), 'a\n')
  }
  let sent = 0
  const model = await scriptedModel(({ body }) => {
    const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
    sent = JSON.stringify(messages).length
    const at = messages.findLastIndex(({ role }) => role === 'user')
    const steps = Number(/do (\d+) steps/.exec(JSON.stringify(messages[at]?.content))?.[1])
    const done = messages.slice(at).filter(({ role }) => role === 'assistant').length
    return done + 1 < steps ? call('list_dir', { path: `folder-${done}` }) : say('Done.')
  })
  const token = randomBytes(16).toString('hex')
  const store = join(root, 'store.db')
  const server = await started('ours.ts', { store, home, token })
  const rival = await started('bare.ts')
  const database = new DatabaseSync(store, { readOnly: true })
  const count = database.prepare('SELECT count(*) AS turns FROM turns WHERE ended_at IS NOT NULL')
  const ended = (): number => Number(count.get()?.['turns'])
  const here: Here = { ...{ server, rival, token, model, dir, ended }, api: apiOf({ url: server.url, token }), sent: () => sent }
  try {
    const rows: Row[] = []
    for (const part of parts) rows.push(...(await part(here)))
    const note = `One process of \`mulligan serve\` with a SQLite file; the model and the clients are another process on the same machine. The lag of an event is from its emission to its arrival, and includes its commit. A turn has ${STEPS} steps, and the long session turns of ${PER_TURN}.`
    return { title: 'server: event streams, turns at once, a long session', note, rows }
  } finally {
    database.close()
    server.end()
    rival.end()
    await model.close()
    rmSync(root, { recursive: true, force: true })
  }
}
