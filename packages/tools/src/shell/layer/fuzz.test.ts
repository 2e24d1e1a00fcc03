/** Runs random scripts in every setup that needs no approval beforehand. What they must not change or reach stays untouched. */
import { describe, expect, test } from 'vitest'
import { random, randomScript } from '../command-policy/fuzz.fixture.ts'
import { BACKEND } from '../shell.fixture.ts'
import { openLayeredRange, WAYS, type Way } from './range.fixture.ts'

/** Number of scripts. For a longer search: `FUZZ_SCRIPTS=100000 FUZZ_SEED=2 npx vitest run …/layer/fuzz.test.ts`. */
const SCRIPTS = Number(process.env['FUZZ_SCRIPTS'] ?? 2000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
const IS_LONG = process.env['FUZZ_SCRIPTS'] !== undefined

const [ASK] = WAYS as readonly [Way]
const DIFFERENT = ['ask, before the decision', 'auto that keeps', 'ask, the workspace read-only']
const PLACES = [
  ...['workspace', 'home', 'beside the workspace', '/tmp', 'the folder around all', 'TCP', 'UDP'],
  ...['a unix socket', 'a unix socket in the workspace', 'an abstract unix socket', 'a pipe in the workspace'],
]

interface Tally {
  ran: number
  asked: number
  refused: number
  held: number
}

describe.skipIf(BACKEND !== 'bubblewrap')('in the default sandbox', () => {
  test('no script has an effect', async () => {
    const tallies = new Map<string, Tally>(WAYS.map(({ name }) => [name, { ran: 0, asked: 0, refused: 0, held: 0 }]))
    const harmful: object[] = []
    const share = Math.ceil(SCRIPTS / WAYS.length)
    const search = async (way: Way, at: number): Promise<void> => {
      await using range = await openLayeredRange(way)
      const next = random(SEED * WAYS.length + at)
      const tally = tallies.get(way.name) as Tally
      const canaries = { ...range.canaries, further: [...(range.canaries.further ?? []), ...range.escapes] }
      for (let n = 1; n <= share; n++) {
        const script = randomScript(next, canaries)
        const { end, held, effects } = await range.run(script)
        tally[end]++
        if (held !== undefined) tally.held++
        if (effects.length > 0) harmful.push({ way: way.name, script, effects })
        if (IS_LONG && (n % 500 === 0 || effects.length > 0))
          console.log(`${way.name}: ${n} of ${share}, ${JSON.stringify(tally)}; with an effect: ${JSON.stringify(harmful)}`)
      }
    }
    await Promise.all(WAYS.map(search))
    expect(harmful).toEqual([])
    for (const { name, overlays } of WAYS) {
      // Some are not valid bash, or are destructive where the workspace is read-only.
      expect([name, (tallies.get(name) as Tally).ran > share / 3]).toEqual([name, true])
      if (overlays) expect([name, tallies.get(name)?.asked]).toEqual([name, 0])
    }
  }, 86_400_000)

  test('control: without a sandbox such scripts reach every place that is looked at', async () => {
    await using range = await openLayeredRange(ASK)
    const found = new Set<string>()
    for (const script of range.canaries.further ?? []) for (const one of await range.runUnguarded(script)) found.add(one)
    expect([...found].sort()).toEqual([...PLACES].sort())
  }, 120_000)

  test('control: with the layer off they change the workspace', async () => {
    await using range = await openLayeredRange(ASK)
    const changing: string[] = []
    for (const script of [...(range.canaries.further ?? []), ...range.escapes])
      if ((await range.runDirect(script)).includes('workspace')) changing.push(script)
    expect(changing.length).toBeGreaterThan(25)
  }, 120_000)

  // The other modes are the same up to the decision.
  test.each(
    WAYS.filter(({ name }) => DIFFERENT.includes(name)),
  )('none of the commands that try the walls has an effect: $name', async (way) => {
    await using range = await openLayeredRange(way)
    const harmful: object[] = []
    for (const script of [...(range.canaries.further ?? []), ...range.escapes]) {
      const { effects } = await range.run(script)
      if (effects.length > 0) harmful.push({ script, effects })
    }
    expect(harmful).toEqual([])
  }, 120_000)
})
