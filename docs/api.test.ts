/** The pages of docs/api are what the packages declare. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pageOf } from '../scripts/api/page.ts'
import { apiPages } from '../scripts/api-docs.ts'
import { ROOT } from './run.fixture.ts'

it.each([...apiPages()])('%s is current: node scripts/api-docs.ts writes it anew', (path, page) => {
  expect(readFileSync(join(ROOT, path), 'utf8')).toBe(page)
})

it('a declaration has its text, its tags and its signature', () => {
  const add = {
    name: 'add',
    kind: 'function' as const,
    doc: 'Adds, as {@link sum} does.\n@param a the first\n@throws TypeError for texts\n@example\nadd(1, 2) // → 3',
    declaration: 'function add(a: number, b: number): number;',
    file: '/add.d.ts',
  }
  const page = pageOf([add, { ...add, name: 'sum' }], {
    name: '@x/y',
    description: 'It adds.',
    from: ({ name }) => (name === 'sum' ? '@x/z' : undefined),
  })
  for (const line of ['Adds, as `sum` does.', '`a`: the first', '**Throws** TypeError for texts', 'add(1, 2) // → 3', add.declaration])
    expect(page).toContain(line)
  expect(page).toContain('From [@x/z](z.md): `sum`.')
  expect(page).not.toContain('### sum')
})
