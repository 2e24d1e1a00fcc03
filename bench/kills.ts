/**
 * Kills servers with SIGKILL at every commit and effect of a turn, and at random instants, and shows what became of the turns. `KILLS` is how
 * often at each commit and effect (default 1; 20 takes hours), with 25 times as many turns that are killed at random instants.
 */

import { hasPostgres, startPostgres } from '../packages/agent/src/store/postgres.fixture.ts'
import { smallDisk } from '../packages/server/src/kills/disk.fixture.ts'
import { histogram, problemsOf } from '../packages/server/src/kills/histogram.fixture.ts'
import { type Fate, type KillsOptions, openKills, type Strike } from '../packages/server/src/kills/kills.fixture.ts'
import { EFFECT_POINTS } from '../packages/server/src/kills/outside.fixture.ts'
import type { Row, Table } from './table.ts'

const KILLS = Number(process.env['KILLS'] ?? 1)
/** Turns that one kill at a random instant strikes. */
const AT_ONCE = 10
const INSTANTS = Math.ceil((25 * KILLS) / AT_ONCE)
/** Parts to run: `boundaries`, `instants`, `disk`, `control`. */
const PARTS = process.env['KILLS_PARTS']?.split(',')
const STORES = process.env['KILLS_STORES']?.split(',')

type Kills = Awaited<ReturnType<typeof openKills>>

/** Runs rounds, and says on stderr how far they are. */
async function run(kills: Kills, name: string, strikes: readonly Strike[], sessions = 1): Promise<readonly Fate[]> {
  const fates: Fate[] = []
  for (const [at, strike] of strikes.entries()) {
    const some = await kills.round(strike, sessions)
    fates.push(...some)
    for (const problem of problemsOf(some)) console.error(`${name}, ${JSON.stringify(strike)}: ${problem}`)
    if ((at + 1) % 50 === 0) console.error(`${name}: ${at + 1} of ${strikes.length}`)
  }
  return fates
}

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, at) => at + 1)
const times = <T>(n: number, make: () => T): readonly T[] => Array.from({ length: n }, make)

async function boundaries(kills: Kills, name: string): Promise<readonly Fate[]> {
  const commits = await kills.points()
  const strikes = times(KILLS, (): readonly Strike[] => [
    ...upTo(commits).map((n) => ({ kind: 'commit', n }) as const),
    ...upTo(EFFECT_POINTS).map((n) => ({ kind: 'effect', n }) as const),
  ]).flat()
  return run(kills, `${name}, boundaries`, strikes)
}

/** Strikes at random instants of a round, whose duration is that of one that is not disturbed. */
async function instants(kills: Kills, name: string, full = false): Promise<readonly Fate[]> {
  const start = performance.now()
  await kills.round({ kind: 'none' }, AT_ONCE)
  const whole = performance.now() - start
  const strikes = times(full ? Math.ceil(INSTANTS / 5) : INSTANTS, (): Strike => {
    const ms = Math.random() * whole
    return full ? { kind: 'full disk', fullMs: Math.random() * ms, ms: ms / 2 } : { kind: 'instant', ms }
  })
  return run(kills, `${name}, ${full ? 'full disk' : 'instants'}`, strikes, AT_ONCE)
}

const rowsOf = (name: string, fates: readonly Fate[]): readonly Row[] => {
  const problems = problemsOf(fates)
  const bars = histogram(fates).map(
    ({ instant, turns, whole, reported, doubled }): Row => ({
      subject: `${name}: ${instant}`,
      values: { turns, 'ended as if nothing had been': whole, 'write reported as cut off': reported, 'write twice': doubled },
    }),
  )
  const all = { turns: fates.length, 'write twice': fates.filter(({ doubled }) => doubled > 0).length }
  return [...bars, { subject: `${name}: all`, values: all, aim: { says: 'nothing twice, nothing lost', met: problems.length === 0 } }]
}

export async function bench(): Promise<Table> {
  const rows: Row[] = []
  const does = (part: string): boolean => PARTS === undefined || PARTS.includes(part)
  const on = async (name: string, options: KillsOptions, work: (kills: Kills, name: string) => Promise<readonly Fate[]>): Promise<void> => {
    if (STORES !== undefined && !STORES.includes(name.split(' ')[0] as string)) return
    await using kills = await openKills(options)
    rows.push(...rowsOf(name, await work(kills, name)))
  }
  const each = async (name: string, options: () => Promise<KillsOptions>): Promise<void> => {
    if (does('instants')) await on(`${name} instants`, await options(), instants)
    if (does('boundaries')) await on(`${name} boundaries`, await options(), boundaries)
  }
  await each('SQLite', async () => ({}))
  using disk = does('disk') ? smallDisk() : undefined
  if (disk) await on('SQLite full disk', { disk }, (kills, name) => instants(kills, name, true))
  if (hasPostgres) {
    const server = await startPostgres({ fsync: 'on' })
    try {
      await each('PostgreSQL', async () => ({ postgres: await server.database() }))
      if (does('instants')) await on('PostgreSQL two servers', { postgres: await server.database(), servers: 2 }, instants)
    } finally {
      await server.stop()
    }
  }
  if (does('control'))
    await on('SQLite control: no intents', { noIntents: true }, (kills, name) =>
      run(
        kills,
        name,
        upTo(EFFECT_POINTS).map((n) => ({ kind: 'effect', n }) as const),
      ),
    )
  const note = `Turns of four replies with two reads and three writes, of which a person is asked about one. By the last event that was stored before the kill. ${KILLS} × at each point before and after a commit or an effect; at random instants, ${AT_ONCE} turns at once. A full disk is one in memory that is filled at a random instant before the kill.`
  return { title: 'kills: a server killed with SIGKILL', note, rows }
}
