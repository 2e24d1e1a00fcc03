import { expect, it } from 'vitest'
import { DECOYS } from './decoys.fixture.ts'
import { PLAIN_DECOYS } from './plain-decoys.fixture.ts'
import { faultIn, mutated, randomOf, type Seed } from './reply-mutations.fixture.ts'
import { ROWS, TOOLS } from './rows.fixture.ts'

const SEEDS: readonly Seed[] = [...ROWS, ...DECOYS, ...PLAIN_DECOYS.map(({ raw }) => ({ raw, tools: TOOLS }))]
/** `npm run fuzz` is for long runs by hand, and for other seeds. */
const RUNS = 1500

it('a mutated reply is read the same in pieces, in linear time, and throws nothing', () => {
  const start = Math.floor(Math.random() * 2 ** 31)
  for (let run = 0; run < RUNS; run++) {
    const random = randomOf(start + run)
    const seed = (): Seed => SEEDS[Math.floor(random(SEEDS.length))] as Seed
    const one = seed()
    const text = mutated(one, seed(), random)
    expect(faultIn(text, one.tools, random), `seed ${start + run}: ${JSON.stringify(text)}`).toBeUndefined()
  }
})

it('the check finds what throws', () => {
  expect(faultIn('x', [{ name: 'a' }, { name: 'a' }], randomOf(1))).toMatch(/^threw TypeError: two tools are named/)
})
