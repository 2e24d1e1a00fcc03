/** The table of faults in docs/library.md is what happens. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { FAULTS, outcomeOf } from './unhealthy.fixture.ts'

const PRESETS = ['without', 'gentle', 'full'] as const

const page = readFileSync(fileURLToPath(new URL('../../../docs/library.md', import.meta.url)), 'utf8')
const rows = new Map(
  (page.split('\n### What adoption changes\n')[1] ?? '')
    .split(/\n#/, 1)
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .map(([name = '', ...cells]) => [name, cells]),
)

it.each(Object.entries(FAULTS))('%s', async (name, fault) => {
  const cells: string[] = []
  for (const preset of PRESETS) cells.push(await outcomeOf(fault, preset))
  expect(rows.get(name), `| ${[name, ...cells].join(' | ')} |`).toEqual(cells)
})

it('the table has no other row', () => expect([...rows.keys()]).toEqual(Object.keys(FAULTS)))
