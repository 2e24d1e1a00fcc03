/**
 * Kills servers at random points of a turn. `npm run bench kills` kills at all of them and prints what became of the turns; `KILLS=20` is
 * how often at each.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { isAll, samples } from '../../../../scripts/test-scope.fixture.ts'
import { postgres, stopPostgres } from '../../../agent/src/store/dialects.fixture.ts'
import { hasPostgres } from '../../../agent/src/store/postgres.fixture.ts'
import { smallDisk } from './disk.fixture.ts'
import { histogram, problemsOf } from './histogram.fixture.ts'
import { type Fate, openKills, type Strike } from './kills.fixture.ts'
import { EFFECT_POINTS } from './outside.fixture.ts'

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

const PLACES = [
  ['SQLite', async () => ({})],
  ...(hasPostgres && isAll ? [['PostgreSQL', async () => ({ postgres: await (await postgres()).database() })] as const] : []),
] as const

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

it(
  'control: without its intents on record, a write takes place twice',
  async () => {
    await using kills = await openKills({ noIntents: true })
    const fates = await rounds(kills, [{ kind: 'effect', n: 2 }])
    expect(histogram(fates)).toMatchObject([{ doubled: 1, reported: 0 }])
    expect(problemsOf(fates)).toContain('append one took place 2 times')
  },
  LONG,
)

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
