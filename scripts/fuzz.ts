/**
 * Parses mutated replies until it is stopped: `npm run fuzz -- [--ms N] [--count N] [--seed N]`. The seeds are the rows and decoys of
 * the tests, or real replies from the folder in `MULLIGAN_FUZZ_SEEDS`, in the format that `recorded.ts` describes. A reply must be
 * parsed the same however it is split, in linear time and without exceptions. On a fault, prints the reply that caused it and exits
 * with 1.
 */
import { parseArgs } from 'node:util'
import { DECOYS } from '../packages/repair/src/envelope/decoys.fixture.ts'
import { PLAIN_DECOYS } from '../packages/repair/src/envelope/plain-decoys.fixture.ts'
import { faultIn, mutated, randomOf, type Seed } from '../packages/repair/src/envelope/reply-mutations.fixture.ts'
import { ROWS, TOOLS } from '../packages/repair/src/envelope/rows.fixture.ts'
import { recordedIn } from './recorded.ts'

const { values } = parseArgs({ options: { ms: { type: 'string' }, count: { type: 'string' }, seed: { type: 'string' } } })
const ms = Number(values.ms ?? 60_000)
const count = Number(values.count ?? Infinity)
const start = Number(values.seed ?? Date.now() % 2 ** 31)
if (![ms, count, start].every((given) => given >= 0)) {
  console.error('usage: npm run fuzz -- [--ms N] [--count N] [--seed N]')
  process.exit(2)
}

const folder = process.env['MULLIGAN_FUZZ_SEEDS']
const seeds: readonly Seed[] = folder
  ? (await recordedIn(folder)).flatMap(({ raw, tools }) => (typeof raw === 'string' ? [{ raw, tools }] : []))
  : [...ROWS, ...DECOYS, ...PLAIN_DECOYS.map(({ raw }) => ({ raw, tools: TOOLS }))]
console.log(`${seeds.length} seeds, from ${start} on`)

const MAX_FAULTS = 20
const until = performance.now() + ms
let runs = 0
let faults = 0
let characters = 0
for (; runs < count && performance.now() < until && faults < MAX_FAULTS; runs++) {
  const random = randomOf(start + runs)
  const seed = (): Seed => seeds[Math.floor(random(seeds.length))] as Seed
  const one = seed()
  const text = mutated(one, seed(), random)
  characters += text.length
  const fault = faultIn(text, one.tools, random)
  if (fault === undefined) continue
  faults++
  console.log(
    `seed ${start + runs}: ${fault}\n  ${JSON.stringify(text.slice(0, 4000))}\n  tools: ${one.tools.map(({ name }) => name).join(', ')}`,
  )
}
console.log(`${runs.toLocaleString('en')} replies, ${characters.toLocaleString('en')} characters: ${faults} faults`)
process.exitCode = faults > 0 ? 1 : 0
