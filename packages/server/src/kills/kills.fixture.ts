/**
 * Kills servers with SIGKILL while they run turns, starts them again, and checks what is outside: no write twice, no finished step again,
 * every write that was cut off reported, a history that the provider takes.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '@mulligan/agent'
import { createJudge, type Death, deathOf, type Fate } from './fate.fixture.ts'
import { type KilledServer, killedServer } from './killed-server.fixture.ts'
import { AGAIN, outside, promptOf } from './outside.fixture.ts'

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

/** Milliseconds between two looks at a session: more if many are looked at, up to a limit. */
const LOOK_EVERY = 20
const MAX_PAUSE = 200
const NEVER = Number.MAX_SAFE_INTEGER
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
  const judge = createJudge(world)
  let death: Death | undefined
  let driven = 0
  const pause = () => sleep(Math.min(MAX_PAUSE, LOOK_EVERY * Math.max(1, driven)))
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
    death ??= deathOf(world, at)
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
  async function send(method: string, path: string, { body, key }: { body?: object; key?: string } = {}) {
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
      await pause()
    }
  }

  /** Has a prompt answered, as a client does that knows nothing of the kills. */
  async function drive(id: string, prompt: string, turns: number): Promise<string> {
    const key = `${id} ${turns}`
    const until = Date.now() + STUCK
    for (;;) {
      const { status } = await send('POST', `/api/sessions/${id}/turns`, { body: { prompt }, key })
      if (status === 202) break
      if (Date.now() > until) return `the turn was refused with ${status}`
      await pause()
    }
    while (Date.now() < until) {
      const { body } = await send('GET', `/api/sessions/${id}`)
      const turn = body.turns[turns - 1]
      if (turn && body.status === 'idle') return turn.status
      if (body.status === 'waiting')
        for (const asked of (await send('GET', `/api/approvals?session=${id}`)).body.approvals)
          await send('POST', `/api/approvals/${asked.id}`, { body: { answer: 'once', hash: asked.hash }, key: asked.id })
      await pause()
    }
    return 'stuck'
  }

  /** Drives the N-th turns of sessions. @param within milliseconds within which each begins, at random. Default: 0 */
  async function drives(ids: readonly string[], turns: 1 | 2, within = 0): Promise<readonly string[]> {
    driven = ids.length
    const statuses = ids.map(async (id) => {
      if (within > 0) await sleep(Math.random() * within)
      return drive(id, turns === 1 ? promptOf(id) : AGAIN, turns)
    })
    await Promise.all(statuses)
    driven = 0
    return Promise.all(statuses)
  }

  async function begin(sessions: number): Promise<readonly string[]> {
    await revive()
    death = undefined
    const ids: string[] = []
    for (let n = 0; n < sessions; n++) {
      const body = { cwd: dir, model: 'any', baseUrl: world.model.url, mode: 'auto' }
      const answer = await send('POST', '/api/sessions', { body })
      if (answer.status !== 201) throw new Error(`no session: ${JSON.stringify(answer.body)}`)
      ids.push(answer.body.id)
    }
    return ids
  }

  /** Runs turns that are struck at once. If at a random instant, each of them begins at a random instant before. */
  async function round(strike: Strike, sessions = 1): Promise<readonly Fate[]> {
    const ids = await begin(sessions)
    let effects = 0
    world.onEffect = () => (strike.kind === 'effect' && ++effects === strike.n ? struck() : undefined)
    if (strike.kind === 'commit') await first.arm(strike.n)
    const within = strike.kind === 'instant' ? strike.ms : strike.kind === 'full disk' ? strike.fullMs + strike.ms : 0
    const statuses = drives(ids, 1, within)
    if (strike.kind === 'full disk') await sleep(strike.fullMs).then(disk?.fill)
    if (strike.kind === 'instant' || strike.kind === 'full disk') await sleep(strike.ms).then(struck)
    return fatesOf(ids, await statuses, strike.kind === 'commit')
  }

  async function fatesOf(ids: readonly string[], statuses: readonly string[], isArmed = false): Promise<readonly Fate[]> {
    world.onEffect = () => undefined
    await revive()
    if (isArmed) await first.arm(NEVER)
    const opened = await openStore(store)
    const fates: Fate[] = []
    for (const [at, id] of ids.entries()) fates.push(await judge({ opened, id, status: statuses[at] as string, death }))
    await opened.close()
    const again = await drives(
      ids.filter((_, at) => statuses[at] !== 'stuck'),
      2,
    )
    const refused = world.model.violations.filter(({ request }) => request > seen).map(({ message }) => `the model refused: ${message}`)
    seen = world.model.requests.length
    const later = [...refused, ...again.filter((status) => status !== 'answered').map((status) => `the next turn is ${status}`)]
    return fates.map((fate) => ({ ...fate, problems: [...fate.problems, ...later] }))
  }

  let seen = 0

  return {
    round,
    /** Points around the commits of a turn that is not disturbed. */
    points: async (): Promise<number> => {
      const ids = await begin(1)
      await first.arm(NEVER)
      await drives(ids, 1)
      return first.arm(NEVER)
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server.kill()
      await world[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
