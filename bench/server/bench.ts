/** Measures `mulligan serve`: event streams, many turns at once beside the AI SDK's loop behind Hono, and a long session. */
import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { type KilledServer, killedServer } from '../../packages/server/src/kills/killed-server.fixture.ts'
import { median, p99 } from '../stats.ts'
import type { Row, Table } from '../table.ts'

const CLIENTS = 1000
const TURNS = 200
const STEPS = 5
const ROUNDS = 3
/** Steps of the long session, in turns of ten. */
const LONG = 1000
const PER_TURN = 10

interface Here {
  readonly server: KilledServer
  readonly model: ScriptedModel
  readonly dir: string
}

const metric = async ({ server }: Here, name: string): Promise<number> => {
  const response = await fetch(`${server.url()}/metrics`, { headers: { authorization: `Bearer ${server.token}` } })
  const rows = (await response.text()).matchAll(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'gm'))
  return [...rows].reduce((sum, [, value]) => sum + Number(value), 0)
}
const cpuOf = (here: Here): Promise<number> => metric(here, 'process_cpu_seconds_total')
const memoryOf = (here: Here): Promise<number> => metric(here, 'process_resident_memory_bytes')

const sessionOf = async ({ server, dir, model }: Here): Promise<string> =>
  (await server.api().post('/api/sessions', { cwd: dir, model: 'any', baseUrl: model.url })).body.id

/** Creates sessions, some at once. */
async function sessionsOf(here: Here, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  while (ids.length < count)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(50, count - ids.length) }, () => sessionOf(here)))))
  return ids
}

/** Runs a turn in each session at once. */
async function turns(here: Here, ids: readonly string[], steps: number): Promise<void> {
  const before = await metric(here, 'mulligan_turns_total')
  await Promise.all(ids.map((id) => here.server.api().post(`/api/sessions/${id}/turns`, { prompt: `do ${steps} steps` })))
  while ((await metric(here, 'mulligan_turns_total')) < before + ids.length) await sleep(20)
}

/** Opens an event stream. @param took called with the lag of each event, in milliseconds */
function listen({ server }: Here, id: string, took: (lag: number) => void): Promise<() => void> {
  const url = `${server.url()}/api/sessions/${id}/events`
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers: { authorization: `Bearer ${server.token}` } }, (response) => {
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
  const before = await memoryOf(here)
  const open: (() => void)[] = []
  for (let n = 0; n < CLIENTS; n += 50)
    open.push(...(await Promise.all(Array.from({ length: 50 }, () => listen(here, id, (lag) => lags.push(lag))))))
  const after = await memoryOf(here)
  await turns(here, [id], STEPS)
  await sleep(500)
  for (const end of open) end()
  const read = await memoryOf(here)
  for (const other of others) await here.server.api().get(`/api/sessions/${other}`)
  const idle = await memoryOf(here)
  const row = (subject: string, all: readonly number[]): Row => ({ subject, values: { 'lag p50 ms': median(all), 'lag p99 ms': p99(all) } })
  return [
    row('one client', alone),
    row(`${CLIENTS} clients of one session`, lags),
    { subject: 'a client', values: { 'memory kB': (after - before) / CLIENTS / 1000 } },
    { subject: 'an idle session', values: { 'memory kB': Math.max(0, idle - read) / CLIENTS / 1000 } },
  ]
}

async function atOnce(here: Here): Promise<readonly Row[]> {
  const rival = fork(join(import.meta.dirname, 'bare.ts'))
  const { url } = await new Promise<{ readonly url: string }>((resolve) => rival.once('message', resolve as never))
  const rivalCpu = async (): Promise<number> => {
    const { cpu } = (await (await fetch(`${url}/cpu`)).json()) as { readonly cpu: NodeJS.CpuUsage }
    return (cpu.user + cpu.system) / 1e6
  }
  const ids = await sessionsOf(here, TURNS)
  const ours: { ms: number; cpu: number }[] = []
  const bare: { ms: number; cpu: number }[] = []
  async function measured(into: typeof ours, cpu: () => Promise<number>, work: () => Promise<unknown>): Promise<void> {
    const [from, start] = [await cpu(), performance.now()]
    await work()
    into.push({ ms: performance.now() - start, cpu: (await cpu()) - from })
  }
  const body = JSON.stringify({ prompt: `do ${STEPS} steps`, baseUrl: here.model.url, cwd: here.dir })
  const headers = { 'content-type': 'application/json' }
  for (let round = 0; round <= ROUNDS; round++) {
    await measured(
      ours,
      () => cpuOf(here),
      () => turns(here, ids, STEPS),
    )
    await measured(bare, rivalCpu, () =>
      Promise.all(ids.map(async () => (await fetch(`${url}/turn`, { method: 'POST', headers, body })).text())),
    )
  }
  rival.disconnect()
  const values = (all: typeof ours) => ({
    'turns/s': TURNS / (median(all.map(({ ms }) => ms)) / 1000),
    'CPU per step ms': (median(all.map(({ cpu }) => cpu)) * 1000) / TURNS / STEPS,
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

async function long(here: Here): Promise<readonly Row[]> {
  const id = await sessionOf(here)
  const perStep: number[] = []
  for (let step = 0; step < LONG; step += PER_TURN) {
    const from = await cpuOf(here)
    await turns(here, [id], PER_TURN)
    perStep.push(((await cpuOf(here)) - from) * (1000 / PER_TURN))
  }
  const [early, late] = [median(perStep.slice(1, 11)), median(perStep.slice(-10))]
  return [
    { subject: 'steps 10–110 of a session', values: { 'CPU per step ms': early } },
    {
      subject: `steps ${LONG - 100}–${LONG} of a session`,
      values: { 'CPU per step ms': late, 'ratio to the first': late / early },
      aim: { says: 'ratio ≤ 1.5', met: late / early <= 1.5 },
    },
  ]
}

export async function bench(): Promise<Table> {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const [dir, home] = ['work', 'home'].map((name) => join(root, name)) as [string, string]
  for (const folder of [dir, home]) mkdirSync(folder)
  for (let n = 0; n < PER_TURN; n++) {
    mkdirSync(join(dir, `folder-${n}`))
    writeFileSync(join(dir, `folder-${n}`, 'a.txt'), 'a\n')
  }
  const model = await scriptedModel(({ body }) => {
    const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
    const at = messages.findLastIndex(({ role }) => role === 'user')
    const steps = Number(/do (\d+) steps/.exec(JSON.stringify(messages[at]?.content))?.[1])
    const done = messages.slice(at).filter(({ role }) => role === 'assistant').length
    return done + 1 < steps ? call('list_dir', { path: `folder-${done}` }) : say('Done.')
  })
  const server = killedServer({ store: join(root, 'store.db'), home })
  await server.start()
  const here = { server, model, dir }
  try {
    const rows = [...(await streams(here)), ...(await atOnce(here)), ...(await long(here))]
    const note = `One process of \`mulligan serve\` with a SQLite file; the model and the clients are another process on the same machine. The lag of an event is from its emission to its arrival, and includes its commit. A turn has ${STEPS} steps, and the long session turns of ${PER_TURN}.`
    return { title: 'server: event streams, turns at once, a long session', note, rows }
  } finally {
    await server.kill()
    await model.close()
    rmSync(root, { recursive: true, force: true })
  }
}
