/** The comparison's columns without packages from the registry are run again; the others are `npm run compare`'s. */
import { describe, expect, it } from 'vitest'
import { DEFAULTS, type Framework, isOurs, load, RECOMMENDED, seen } from '../bench/frameworks/frameworks.ts'
import { settingsText, table } from '../bench/frameworks/page.ts'
import { SCENARIOS } from '../bench/frameworks/scenarios.ts'
import { pageText, tableUnder } from './page.fixture.ts'

const page = pageText('docs/comparison.md')
const plain = (text: string): string => text.replaceAll('`', '').replaceAll('**', '')

/** The plain AI SDK waits forever for a tool that ignores its signal. */
const ends = ({ driver }: Framework, id: string): boolean => driver.startsWith('mulligan') || id !== 'hang'

describe.each([
  ['With default settings', DEFAULTS],
  ['With recommended settings', RECOMMENDED],
] as const)('%s', (heading, frameworks) => {
  const rows = tableUnder(page, heading).map((row) => row.map(plain))

  it('has a row for each scenario and a column for each framework', () => {
    expect(rows.map(([title]) => title)).toEqual(SCENARIOS.map(({ title }) => plain(title)))
    for (const row of rows) expect(row.filter((cell) => cell !== '')).toHaveLength(1 + frameworks.length)
    expect(page).toContain(table(frameworks, []))
  })

  it('shows that a healthy run costs the same everywhere', () => {
    const title = plain(SCENARIOS.find(({ id }) => id === 'healthy')?.title ?? '')
    const [, first, ...others] = rows.find((row) => row[0] === title) ?? []
    expect(first).toMatch(/^3 requests/)
    expect(new Set(others)).toEqual(new Set([first]))
  })

  const runs = frameworks.flatMap((framework, column) =>
    SCENARIOS.filter(({ id }) => isOurs(framework) && ends(framework, id)).map(
      (scenario) => [framework.name, scenario.id, framework, scenario, 1 + column] as const,
    ),
  )
  it.each(runs)('%s, %s: the outcome is what the page says', async (_name, _id, framework, scenario, column) => {
    const { says } = scenario.verdict(await seen(await load(framework, ''), scenario))
    const row = rows.find(([title]) => title === plain(scenario.title))
    expect(plain(says)).toBe(row?.[column])
  })
})

it('shows the code of the recommended settings as it is run', () => {
  expect(page).toContain(settingsText())
})

it('makes the best outcomes of a row bold', () => {
  const [scenario, ...frameworks] = [SCENARIOS[0], ...DEFAULTS.slice(0, 3)] as [(typeof SCENARIOS)[number], ...Framework[]]
  const costs = (...given: readonly number[]): string =>
    table(frameworks, [{ scenario, verdicts: given.map((cost) => ({ says: `${cost}`, cost })) }]).split('\n')[2] ?? ''
  expect(costs(2, 3, 2)).toBe(`| ${scenario.title} | **2** | 3 | **2** |`)
  expect(costs(2, 2, 2)).toBe(`| ${scenario.title} | 2 | 2 | 2 |`)
})
