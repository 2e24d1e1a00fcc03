/**
 * Kills many turns with one SIGKILL, each at a place of its own: a process without a server, in which each turn stops at its place until all
 * have stopped. Another process goes on with them.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newSessionId, openStore } from '@mulligan/agent'
import { type HeldTurn, startTurns } from '../../../agent/src/held-turns.fixture.ts'
import { createJudge, type Death, deathOf, type Fate } from './fate.fixture.ts'
import { AGAIN, outside, promptOf } from './outside.fixture.ts'

/** A place in a turn, from 1. */
export interface Place {
  /** Before or after a commit of the database, or an effect. */
  readonly kind: 'commit' | 'effect'
  readonly n: number
}

export interface TurnsOptions {
  /** The address of a PostgreSQL database. Default: a SQLite file. */
  readonly postgres?: string
  readonly noIntents?: boolean
}

export async function openTurns({ postgres, noIntents = false }: TurnsOptions) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-kills-')))
  const world = await outside()
  const judge = createJudge(world)
  const place = postgres ?? join(root, 'store.db')
  const opened = await openStore(place)
  const start = () => startTurns({ place, noIntents, modelUrl: world.model.url, ledgerUrl: world.ledgerUrl })
  let turns = start()
  let seen = 0

  async function begin(count: number): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, newSessionId)
    for (const id of ids) await opened.createSession({ id, cwd: '/', title: '' })
    await opened.lastEventId(ids[0] as string)
    return ids
  }

  const first = (id: string, more: Partial<HeldTurn> = {}): HeldTurn => ({ id, prompt: promptOf(id), turn: 1, ...more })

  /** Kills the process, and goes on with its turns in another one. The last of them has a second turn, which sends all that is stored. */
  async function goOn(ids: readonly string[], onDeath = (): void => undefined): Promise<readonly Fate[]> {
    const at = Date.now()
    await turns.kill()
    const death: Death = deathOf(world, at)
    // What the dead process has sent still arrives.
    onDeath()
    world.onEffect = () => undefined
    turns = start()
    const ends = await Promise.all(ids.map((id) => turns.run(first(id))))
    const fates = await Promise.all(ids.map((id, one) => judge({ opened, id, status: ends[one]?.status ?? '', death })))
    const again = await turns.run({ id: ids.at(-1) as string, prompt: AGAIN, turn: 2 })
    const refused = world.model.violations.filter(({ request }) => request > seen).map(({ message }) => `the model refused: ${message}`)
    seen = world.model.requests.length
    const later = [...refused, ...(again.status === 'answered' ? [] : [`the next turn is ${again.status}`])]
    return fates.map((fate) => ({ ...fate, problems: [...fate.problems, ...later] }))
  }

  return {
    /** Kills turns once each of them has stopped at its place, or ended. */
    async atPlaces(places: readonly Place[]): Promise<readonly Fate[]> {
      const ids = await begin(places.length)
      const stopped = ids.map(() => Promise.withResolvers<void>())
      const dead = Promise.withResolvers<void>()
      const effects = ids.map(() => 0)
      world.onEffect = (_, callId) => {
        const at = ids.findIndex((id) => callId.startsWith(`${id}/`))
        effects[at] = (effects[at] ?? 0) + 1
        if (places[at]?.kind !== 'effect' || effects[at] !== places[at].n) return undefined
        stopped[at]?.resolve()
        return dead.promise
      }
      for (const [at, id] of ids.entries()) {
        const stop = (): void => stopped[at]?.resolve()
        const holdAt = places[at]?.kind === 'commit' ? places[at].n : undefined
        void turns.run(first(id, holdAt === undefined ? {} : { holdAt }), stop).then(stop)
      }
      await Promise.all(stopped.map(({ promise }) => promise))
      return goOn(ids, dead.resolve)
    },
    /** Kills turns of which each begins at a random instant, after as long as they take. */
    async atRandom(count: number, ms: number): Promise<readonly Fate[]> {
      const ids = await begin(count)
      for (const id of ids) void turns.run(first(id, { after: Math.random() * ms }))
      await sleep(ms)
      return goOn(ids)
    },
    /** Points around the commits of a turn that is not disturbed, and the milliseconds that as many take at once. */
    async calm(count: number): Promise<{ readonly points: number; readonly ms: number }> {
      for (const id of await begin(1)) await turns.run(first(id))
      const start = performance.now()
      const ends = await Promise.all((await begin(count)).map((id) => turns.run(first(id))))
      return { points: Math.max(...ends.map(({ passed }) => passed)), ms: performance.now() - start }
    },
    [Symbol.asyncDispose]: async () => {
      await turns.kill()
      await opened.close()
      await world[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
