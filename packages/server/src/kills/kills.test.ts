/**
 * Kills turns at each of their commits and effects, and servers at random ones. `KILLS=20 npm run bench kills` kills 20 times at each, and
 * prints what became of the turns.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { isAll, samples } from '../../../../scripts/test-scope.fixture.ts'
import { postgres, stopPostgres } from '../../../agent/src/store/dialects.fixture.ts'
import { hasPostgres } from '../../../agent/src/store/postgres.fixture.ts'
import { smallDisk } from './disk.fixture.ts'
import type { Fate } from './fate.fixture.ts'
import { problemsOf } from './histogram.fixture.ts'
import { openKills, type Strike } from './kills.fixture.ts'
import { EFFECT_POINTS } from './outside.fixture.ts'
import { openTurns, type Place } from './turns.fixture.ts'

afterAll(stopPostgres)

const LONG = 600_000
const random = (below: number): number => Math.floor(Math.random() * below)

async function rounds(kills: Awaited<ReturnType<typeof openKills>>, strikes: readonly Strike[], sessions = 1): Promise<readonly Fate[]> {
  const fates: Fate[] = []
  for (const strike of strikes) fates.push(...(await kills.round(strike, sessions)))
  return fates
}

/** Expects that nothing was done twice, and that there were kills. */
function expectSound(fates: readonly Fate[]): void {
  expect(problemsOf(fates)).toEqual([])
  expect(fates.some(({ instant }) => instant !== undefined)).toBe(true)
}

const database = async () => ({ postgres: await (await postgres()).database() })
const PLACES = [['SQLite', async () => ({})], ...(hasPostgres && isAll ? [['PostgreSQL', database] as const] : [])] as const

describe.each(PLACES)('a server that is killed, in %s', (_, place) => {
  it(
    'ends its turns when it is started again: no write twice, no finished step again, every write that was cut off reported',
    async () => {
      await using kills = await openKills(await place())
      const commits = await kills.points()
      expect(commits).toBeGreaterThan(40)
      const fates = await rounds(kills, [
        ...Array.from({ length: samples(2, 12) }, () => ({ kind: 'commit', n: 1 + random(commits) }) as const),
        ...Array.from({ length: samples(1, 3) }, () => ({ kind: 'effect', n: 1 + random(EFFECT_POINTS) }) as const),
      ])
      const atOnce = await rounds(
        kills,
        Array.from({ length: samples(1, 3) }, () => ({ kind: 'instant', ms: random(1500) }) as const),
        4,
      )
      expectSound([...fates, ...atOnce])
      expect(fates.some(({ reported }) => reported > 0)).toBe(true)
    },
    LONG,
  )
})

const STORES = [['SQLite', async () => ({})], ...(hasPostgres ? [['PostgreSQL', database] as const] : [])] as const
const effects = Array.from({ length: EFFECT_POINTS }, (_, at): Place => ({ kind: 'effect', n: at + 1 }))

describe.each(STORES)('turns that are killed at each of their commits and effects, in %s', (_, place) => {
  it(
    'end when another process goes on: no write twice, no finished step again, every write that was cut off reported',
    async () => {
      await using turns = await openTurns(await place())
      const { points } = await turns.calm(1)
      expect(points).toBeGreaterThan(30)
      const commits = Array.from({ length: points }, (_, at): Place => ({ kind: 'commit', n: at + 1 }))
      const fates = await turns.atPlaces([...commits, ...effects])
      expectSound(fates)
      expect(fates.filter(({ reported }) => reported > 0).length).toBeGreaterThan(effects.length)
    },
    LONG,
  )

  it(
    'control: without its intents on record, a write takes place twice',
    async () => {
      await using turns = await openTurns({ ...(await place()), noIntents: true })
      const fates = await turns.atPlaces(effects)
      expect(fates.map(({ doubled, reported }) => [doubled, reported])).toEqual(effects.map(() => [1, 0]))
      expect(problemsOf(fates)).toContain('append one took place 2 times')
    },
    LONG,
  )
})

const disk = isAll ? smallDisk() : undefined
afterAll(() => disk?.[Symbol.dispose]())

it.skipIf(!disk)(
  'killed while the disk is full, the same holds once there is room',
  async () => {
    await using kills = await openKills(disk ? { disk } : {})
    expectSound(
      await rounds(
        kills,
        Array.from({ length: 4 }, () => ({ kind: 'full disk', fullMs: random(800), ms: random(1500) }) as const),
        3,
      ),
    )
  },
  LONG,
)

it.skipIf(!hasPostgres || !isAll)(
  'of two servers on one database one is killed, and the other goes on with its turns',
  async () => {
    await using kills = await openKills({ postgres: await (await postgres()).database(), servers: 2 })
    expectSound(
      await rounds(
        kills,
        Array.from({ length: 4 }, () => ({ kind: 'instant', ms: random(1500) }) as const),
        3,
      ),
    )
  },
  LONG,
)
