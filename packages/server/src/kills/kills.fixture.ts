/**
 * Kills servers with SIGKILL while they run turns, starts them again, and checks what is outside: no write twice, no finished step again,
 * every write that was cut off reported, a history that the provider takes.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentEvent, openStore } from '@mulligan/agent'
import type { CallRecord } from '@mulligan/core'
import { type KilledServer, killedServer } from './killed-server.fixture.ts'
import { CALLS, outside } from './outside.fixture.ts'

/** How a round is struck. */
export type Strike =
  /** At the N-th point around the commits of the database, from 1. */
  | { readonly kind: 'commit'; readonly n: number }
  /** At the N-th point around the effects, from 1. */
  | { readonly kind: 'effect'; readonly n: number }
  /** After this many milliseconds. */
  | { readonly kind: 'instant'; readonly ms: number }
  /** The disk is full after `fullMs`, and the kill comes after `ms`. */
  | { readonly kind: 'full disk'; readonly fullMs: number; readonly ms: number }
  | { readonly kind: 'none' }

/** What became of a turn. */
export interface Fate {
  /** The last event that was stored before the kill; undefined if the turn had ended, or was not killed. */
  readonly instant?: string | undefined
  /** Writes that were reported as cut off. */
  readonly reported: number
  /** Writes that took place twice. */
  readonly doubled: number
  /** What must not be. */
  readonly problems: readonly string[]
}

export interface Disk {
  readonly folder: string
  readonly fill: () => void
  readonly free: () => void
}

export interface KillsOptions {
  /** The address of a PostgreSQL database. Default: a SQLite file. */
  readonly postgres?: string
  /** Servers on the store; the first is the one that is killed. Default: 1. */
  readonly servers?: 1 | 2
  readonly noIntents?: boolean
  /** Where the SQLite file is. Default: a temporary folder. */
  readonly disk?: Disk
}

/** When a server died, and what was outside then. */
interface Death {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly asked: ReadonlyMap<string, number>
  readonly done: ReadonlyMap<string, number>
}

/** Milliseconds between two looks at a session. */
const LOOK_EVERY = 20
/** Milliseconds after which a turn counts as stuck. */
const STUCK = 300_000

export async function openKills({ postgres, servers: count = 1, noIntents = false, disk }: KillsOptions) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-kills-')))
  const [dir, home] = ['work', 'home'].map((name) => join(root, name)) as [string, string]
  for (const folder of [dir, home]) mkdirSync(folder)
  const world = await outside()
  await world.equip(dir, home)
  const store = postgres ?? join(disk?.folder ?? root, 'store.db')
  const servers = Array.from({ length: count }, () => killedServer({ store, home, noIntents }))
  for (const server of servers) await server.start()
  let death: Death | undefined
  let reviving: Promise<void> | undefined

  function revive(): Promise<void> {
    const all = async (): Promise<void> => {
      for (const server of servers) if (!server.isAlive()) await server.start()
    }
    reviving ??= all().finally(() => {
      reviving = undefined
    })
    return reviving
  }

  function noteDeath(at = Date.now()): void {
    death ??= { at, asked: new Map(world.asked), done: new Map(world.done) }
    disk?.free()
  }

  const [first] = servers as [KilledServer, ...KilledServer[]]
  const struck = async (): Promise<void> => {
    // What another server does after this is not from before the kill.
    const at = Date.now()
    await first.kill()
    noteDeath(at)
  }

  /** Sends a request to a server that is alive, again and again with one key, until it is answered. */
  async function send(method: string, path: string, body?: object, key?: string) {
    for (;;) {
      const server = servers.find((one) => one.isAlive())
      try {
        if (!server) throw new Error('no server')
        const answer = await server.api().send(method, path, body, key === undefined ? {} : { 'idempotency-key': key })
        // The disk is full.
        if (answer.status < 500) return answer
      } catch {
        if (!first.isAlive()) noteDeath()
        if (servers.every((one) => !one.isAlive())) await revive()
      }
      await sleep(LOOK_EVERY)
    }
  }

  /** Has a prompt answered, as a client does that knows nothing of the kills. */
  async function drive(id: string, prompt: string, turns: number): Promise<string> {
    const key = `${id} ${turns}`
    const until = Date.now() + STUCK
    for (;;) {
      const { status } = await send('POST', `/api/sessions/${id}/turns`, { prompt }, key)
      if (status === 202) break
      if (Date.now() > until) return `the turn was refused with ${status}`
      await sleep(LOOK_EVERY)
    }
    while (Date.now() < until) {
      const { body } = await send('GET', `/api/sessions/${id}`)
      const turn = body.turns[turns - 1]
      if (turn && body.status === 'idle') return turn.status
      if (body.status === 'waiting')
        for (const asked of (await send('GET', `/api/approvals?session=${id}`)).body.approvals)
          await send('POST', `/api/approvals/${asked.id}`, { answer: 'once', hash: asked.hash }, asked.id)
      await sleep(LOOK_EVERY)
    }
    return 'stuck'
  }

  /** Runs turns that are struck at once. */
  async function round(strike: Strike, sessions = 1): Promise<readonly Fate[]> {
    await revive()
    death = undefined
    const ids: string[] = []
    for (let n = 0; n < sessions; n++)
      ids.push((await send('POST', '/api/sessions', { cwd: dir, model: 'any', baseUrl: world.model.url, mode: 'auto' })).body.id)
    let effects = 0
    world.onEffect = () => (strike.kind === 'effect' && ++effects === strike.n ? struck() : undefined)
    if (strike.kind === 'commit') await first.arm(strike.n)
    const driven = ids.map((id) => drive(id, `turn ${id} please`, 1))
    if (strike.kind === 'full disk') await sleep(strike.fullMs).then(disk?.fill)
    if (strike.kind === 'instant' || strike.kind === 'full disk') await sleep(strike.ms).then(struck)
    const statuses = await Promise.all(driven)
    world.onEffect = () => undefined
    await revive()
    if (strike.kind === 'commit') await first.arm(Number.MAX_SAFE_INTEGER)
    const fates: Fate[] = []
    for (const [at, id] of ids.entries()) fates.push(await fateOf(id, statuses[at] as string))
    return fates
  }

  async function fateOf(id: string, status: string): Promise<Fate> {
    const opened = await openStore(store)
    const events = await opened.events({ sessionId: id })
    const records = (await opened.history(id)).flatMap((message) => (message.role === 'results' ? message.records : []))
    const turns = await opened.turns(id)
    await opened.close()
    const before = death ? events.filter(({ at }) => at <= (death?.at ?? 0)) : events
    const problems = [
      ...(status === 'answered' ? [] : [`the turn is ${status}`]),
      ...(turns.length === 1 ? [] : [`there are ${turns.length} turns`]),
      ...problemsOf(id, records, events),
      ...(death ? repeated(id, before) : []),
    ]
    const again = status === 'stuck' ? status : await drive(id, 'once again', 2)
    if (again !== 'answered') problems.push(`the next turn is ${again}`)
    const violations = world.model.violations.filter(({ request }) => request > seen)
    seen = world.model.requests.length
    problems.push(...violations.map(({ message }) => `the model refused: ${message}`))
    const doubled = records.filter((record) => record.effect !== 'read' && (world.done.get(record.id) ?? 0) > 1).length
    const instant = before.some(({ type }) => type === 'turn.ended') ? undefined : nameOf(before.at(-1))
    return { instant, reported: records.filter(isUnknown).length, doubled, problems }
  }
  let seen = 0

  function problemsOf(id: string, records: readonly CallRecord[], events: readonly AgentEvent[]): readonly string[] {
    const ended = events.find((event) => event.type === 'turn.ended')
    const told = ended?.type === 'turn.ended' ? ended.outcome.ledger.unknown.map(({ callId }) => callId) : []
    const calls = records.filter((record) => record.id.startsWith(`${id}/1/`))
    const problems = calls.length === CALLS ? [] : [`${calls.length} calls have a result`]
    for (const record of calls) {
      const times = world.done.get(record.id) ?? 0
      const what = `${record.tool} ${record.target}`
      const results = events.filter((event) => event.type === 'tool.result' && event.callId === record.id && !event.late).length
      if (results !== 1) problems.push(`${what} has ${results} results`)
      if (record.effect === 'read') continue
      if (times > 1) problems.push(`${what} took place ${times} times`)
      if (isUnknown(record) !== told.includes(record.id)) problems.push(`${what} is not told in the ledger as it is recorded`)
      if (!isUnknown(record) && record.result.ok !== times > 0)
        problems.push(`${what} took place ${times} times and was reported as it did not`)
    }
    return problems
  }

  /** Finds steps that were finished when the server died, and were done again. */
  function repeated(id: string, before: readonly AgentEvent[]): readonly string[] {
    const since = (now: ReadonlyMap<string, number>, then: ReadonlyMap<string, number> | undefined, key: string): number =>
      (now.get(key) ?? 0) - (then?.get(key) ?? 0)
    return before.flatMap((event) => {
      if (event.type === 'message.completed' && since(world.asked, death?.asked, `${id} ${event.step}`) > 0)
        return [`reply ${event.step} was finished and requested again`]
      if (event.type === 'tool.result' && since(world.done, death?.done, event.callId) > 0)
        return [`${event.tool} was finished and run again`]
      return []
    })
  }

  return {
    round,
    /** Points around the commits of a turn that is not disturbed. */
    points: async (): Promise<number> => {
      await round({ kind: 'none' })
      await first.arm(Number.MAX_SAFE_INTEGER)
      await round({ kind: 'none' })
      return first.arm(Number.MAX_SAFE_INTEGER)
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server.kill()
      await world[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

const isUnknown = ({ result }: CallRecord): boolean => !result.ok && result.status === 'indeterminate'

function nameOf(event: AgentEvent | undefined): string {
  if (!event) return 'nothing'
  return 'tool' in event ? `${event.type} ${event.tool}` : event.type
}
