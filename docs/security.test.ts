/** The tests and folders that SECURITY.md names are there. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const table = readFileSync(`${root}SECURITY.md`, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
const named = table.flatMap((row) => [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path))

test('each row of the threat table names tests', () => {
  for (const row of table.slice(2)) expect(row.split('|').at(-2)).toContain('`')
})

test.each([...new Set(named)])('%s', (path) => {
  expect(globSync([`packages/${path}`, `packages/*/src/**/${path}`], { cwd: root })).not.toEqual([])
})
