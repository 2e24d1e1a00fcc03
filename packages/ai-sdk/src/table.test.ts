/** Compares the tables in docs/library.md with the options and the tests. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { MulliganOptions } from './index.ts'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const page = readFileSync(path('../../../docs/library.md'), 'utf8')

/** The cells of the first table below a heading. */
/** The rows of the first table under a heading. */
const tableUnder = (heading: string): readonly (readonly string[])[] =>
  (page.split(`\n${heading}\n`)[1]?.match(/^\|.*(?:\n\|.*)*/m)?.[0] ?? '')
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map((cells) => cells.slice(1, -1))

describe('docs/library.md', () => {
  it('has every option, and no other', () => {
    const options: Readonly<Record<keyof MulliganOptions, true>> = {
      preset: true,
      budgets: true,
      guard: true,
      tools: true,
      defaults: true,
      policy: true,
      canAsk: true,
      limits: true,
      maxResultTokens: true,
      spill: true,
      breakers: true,
      mode: true,
      onEvent: true,
      log: true,
      errors: true,
      families: true,
      opensInReasoning: true,
      asks: true,
      clock: true,
      graceMs: true,
    }
    const told = tableUnder('## Inside an AI SDK agent').flatMap(([names = '']) =>
      names.split(', ').map((name) => name.replaceAll('`', '')),
    )
    expect(told.sort()).toEqual(Object.keys(options).sort())
  })

  it('names a test of this package for each row that says what holds in the loop of the SDK', () => {
    const tests = globSync('*.test.ts', { cwd: path('.') })
      .map((file) => readFileSync(path(file), 'utf8'))
      .join('\n')
    const rows = tableUnder('### Guarantees in each loop')
    expect(rows.length).toBeGreaterThan(20)
    const titles = rows.map(([, , , title = '']) => title).filter((title) => title !== '')
    expect(titles.length).toBeGreaterThan(20)
    for (const title of titles) expect(tests.includes(`('${title}'`), title).toBe(true)
  })
})
