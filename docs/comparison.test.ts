/** The comparison's own columns are run again; the others are `npm run compare`'s, which needs the registry. */
import { expect, it } from 'vitest'
import { FRAMEWORKS, load, seen } from '../bench/frameworks/frameworks.ts'
import { MISTAKES } from '../bench/frameworks/mistakes.ts'
import { pageText, tableUnder } from './page.fixture.ts'

const rows = tableUnder(pageText('docs/comparison.md'), 'Beside other frameworks')
const column = (name: string): number => 1 + FRAMEWORKS.findIndex((framework) => framework.name === name)
const plain = (text: string): string => text.replaceAll('`', '')
/** They are in this repository, and end by themselves. */
const here = FRAMEWORKS.filter(({ packages }) => Object.keys(packages).length === 0).flatMap((framework) =>
  MISTAKES.filter(({ id }) => framework.driver.startsWith('mulligan') || id !== 'hang').map((mistake) => ({ framework, mistake })),
)

it('has a row for each mistake and a column for each framework', () => {
  expect(rows.map(([title]) => title)).toEqual(MISTAKES.map(({ title }) => plain(title)))
  for (const row of rows) expect(row.filter((cell) => cell !== '')).toHaveLength(1 + FRAMEWORKS.length)
  const head =
    pageText('docs/comparison.md')
      .split('\n')
      .find((line) => line.startsWith('|  |')) ?? ''
  expect(
    head
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()),
  ).toEqual(FRAMEWORKS.map(({ name }) => name))
})

it.each(
  here.map(({ framework, mistake }) => [framework.name, mistake.id, framework, mistake] as const),
)('%s, %s: it comes to what the page says', async (name, _, framework, mistake) => {
  const cell = mistake.verdict(await seen(await load(framework, ''), mistake))
  const row = rows.find(([title]) => title === plain(mistake.title))
  expect(plain(cell)).toBe(row?.[column(name)])
})
