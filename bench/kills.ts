/**
 * Kills processes with SIGKILL at every commit and effect of a turn, and at random moments, and shows what became of the turns. `KILLS` is
 * how often at each commit and effect (default 1), with 25 times as many turns that are killed at random moments, besides those that have
 * ended by then, and 10 times as many of servers.
 */

import { hasPostgres, startPostgres } from '../packages/agent/src/store/postgres.fixture.ts'
import { smallDisk } from '../packages/server/src/kills/disk.fixture.ts'
import type { Fate } from '../packages/server/src/kills/fate.fixture.ts'
import { histogram, problemsOf } from '../packages/server/src/kills/histogram.fixture.ts'
import { type KillsOptions, openKills, type Strike } from '../packages/server/src/kills/kills.fixture.ts'
import { EFFECT_POINTS } from '../packages/server/src/kills/outside.fixture.ts'
import { openTurns, type Place } from '../packages/server/src/kills/turns.fixture.ts'
import type { Row, Table } from './table.ts'

const KILLS = Number(process.env['KILLS'] ?? 1)
/** Turns that one kill at a random instant strikes. */
const AT_ONCE = 10
/** Turns to strike at random instants before their end. */
const STRUCK = 25 * KILLS
/** Turns that wait for one kill, each at its own place. */
const HELD = 60
/** Parts to run: `boundaries`, `instants`, `control`, `servers`, `server-boundaries`, `disk`. */
const PARTS = process.env['KILLS_PARTS']?.split(',')
const STORES = process.env['KILLS_STORES']?.split(',')

type ServerOptions = () => Promise<KillsOptions>
type Options = () => Promise<{ readonly postgres?: string }>

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, at) => at + 1)

/** Does the parts of a run, and says on stderr how far it is. */
async function each<T>(name: string, parts: readonly T[], kill: (part: T) => Promise<readonly Fate[]>): Promise<readonly Fate[]> {
  const fates: Fate[] = []
  for (const [at, part] of parts.entries()) {
    const some = await kill(part)
    fates.push(...some)
    for (const problem of problemsOf(some)) console.error(`${name}, ${JSON.stringify(part)}: ${problem}`)
    if (at % 10 === 0) console.error(`${name}: ${at + 1} of ${parts.length}`)
  }
  return fates
}

/** Kills often at each place, as many turns at once, each of which waits at its place. */
async function boundaries(options: Options, name: string): Promise<readonly Fate[]> {
  const places: Place[] = upTo(EFFECT_POINTS).map((n) => ({ kind: 'effect', n }))
  {
    await using turns = await openTurns(await options())
    places.push(...upTo((await turns.calm(1)).points).map((n): Place => ({ kind: 'commit', n })))
  }
  const groups = Array.from({ length: Math.ceil(places.length / HELD) }, (_, at) => places.slice(at * HELD, (at + 1) * HELD))
  const fates: Fate[] = []
  for (const round of upTo(KILLS)) {
    // What the model was asked is kept until the end.
    await using turns = await openTurns(await options())
    fates.push(...(await each(`${name}, ${round} of ${KILLS}`, groups, turns.atPlaces)))
  }
  return fates
}

async function instants(options: Options, name: string): Promise<readonly Fate[]> {
  await using turns = await openTurns(await options())
  const { ms } = await turns.calm(AT_ONCE)
  const fates: Fate[] = []
  for (let struck = 0; struck < STRUCK; ) {
    const some = await each(`${name}, ${struck} of ${STRUCK}`, [AT_ONCE], (count) => turns.atRandom(count, ms))
    fates.push(...some)
    struck += some.filter(({ instant }) => instant !== undefined).length
  }
  return fates
}

async function control(options: Options, name: string): Promise<readonly Fate[]> {
  await using turns = await openTurns({ ...(await options()), noIntents: true })
  return await each(name, [upTo(EFFECT_POINTS).map((n): Place => ({ kind: 'effect', n }))], turns.atPlaces)
}

/** Kills servers at each commit and effect in the middle of a call. */
async function serverPlaces(options: ServerOptions, name: string): Promise<readonly Fate[]> {
  await using kills = await openKills(await options())
  const strikes: readonly Strike[] = [
    ...upTo(await kills.points()).map((n) => ({ kind: 'commit', n }) as const),
    ...upTo(EFFECT_POINTS).map((n) => ({ kind: 'effect', n }) as const),
  ]
  return await each(name, strikes, (strike) => kills.round(strike))
}

/** Kills servers after as long as turns take that are not disturbed. */
async function serverInstants(options: ServerOptions, name: string, full = false): Promise<readonly Fate[]> {
  await using kills = await openKills(await options())
  const start = performance.now()
  await kills.round({ kind: 'none' }, AT_ONCE)
  const whole = performance.now() - start
  const strikes = upTo(KILLS).map((): Strike => {
    const fullMs = Math.random() * whole
    return full ? { kind: 'full disk', fullMs, ms: whole - fullMs } : { kind: 'instant', ms: whole }
  })
  return await each(name, strikes, (strike) => kills.round(strike, AT_ONCE))
}

function rowsOf(name: string, fates: readonly Fate[], isControl: boolean): readonly Row[] {
  const bars = histogram(fates).map(
    ({ instant, turns, whole, reported, doubled }): Row => ({
      subject: `${name}: ${instant}`,
      values: { turns, 'ended as if nothing had been': whole, 'write reported as cut off': reported, 'write twice': doubled },
    }),
  )
  const doubled = fates.filter((fate) => fate.doubled > 0).length
  const aim = isControl
    ? { says: 'writes twice', met: doubled > 0 }
    : { says: 'nothing twice, nothing lost', met: problemsOf(fates).length === 0 }
  return [...bars, { subject: `${name}: all`, values: { turns: fates.length, 'write twice': doubled }, aim }]
}

export async function bench(): Promise<Table> {
  const rows: Row[] = []
  const on = async (name: string, part: string, work: (name: string) => Promise<readonly Fate[]>): Promise<void> => {
    if (PARTS && !PARTS.includes(part)) return
    if (STORES && !STORES.includes(name.split(' ')[0] as string)) return
    const more = rowsOf(name, await work(name), part === 'control')
    rows.push(...more)
    for (const { subject, values } of more) console.error(subject, JSON.stringify(values))
  }
  const both = async (store: string, options: Options): Promise<void> => {
    await on(`${store} boundaries`, 'boundaries', (name) => boundaries(options, name))
    await on(`${store} instants`, 'instants', (name) => instants(options, name))
    await on(`${store} control, no intents`, 'control', (name) => control(options, name))
  }
  const servers = async (store: string, options: ServerOptions): Promise<void> => {
    await on(`${store} server, instants`, 'servers', (name) => serverInstants(options, name))
    await on(`${store} server, boundaries`, 'server-boundaries', (name) => serverPlaces(options, name))
  }
  const server = hasPostgres ? await startPostgres({ fsync: 'on', max_connections: '500' }) : undefined
  using disk = smallDisk()
  try {
    const database = async () => ({ postgres: (await server?.database()) as string })
    await both('SQLite', async () => ({}))
    if (server) await both('PostgreSQL', database)
    if (server)
      await on('PostgreSQL two servers', 'servers', (name) => serverInstants(async () => ({ ...(await database()), servers: 2 }), name))
    if (disk) await on('SQLite server, full disk', 'disk', (name) => serverInstants(async () => ({ disk }), name, true))
    await servers('SQLite', async () => ({}))
    if (server) await servers('PostgreSQL', database)
  } finally {
    await server?.stop()
  }
  const note = `Turns of four replies with two reads and three writes, of which a person is asked about one. By the last event that was stored before the kill. Before and after each commit and effect, ${KILLS} ×: turns that stop there, up to ${HELD} for one kill. At random instants: ${AT_ONCE} turns for one kill, which began at random instants. Those of servers are driven over HTTP; at each boundary once, in the middle of a call. A full disk is one in memory that is filled at a random instant before the kill.`
  return { title: 'kills: processes and servers killed with SIGKILL', note, rows }
}
