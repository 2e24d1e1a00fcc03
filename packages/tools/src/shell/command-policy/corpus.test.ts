import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readCommand } from './read-command.ts'

interface Row {
  readonly command: string
  /** `deny` means destructive. */
  readonly expect: 'safe' | 'ask' | 'deny'
}

const folder = fileURLToPath(new URL('./corpus/', import.meta.url))
const place = { home: '/home/user', workspace: '/home/user/project', cwd: '/home/user/project' }
const files = readdirSync(folder)
const all = files
  .flatMap((file) => readFileSync(`${folder}${file}`, 'utf8').trim().split('\n'))
  .map((line) => JSON.parse(line) as Row)
  .map((row) => ({ ...row, read: readCommand(row.command, place) }))
const of = (kind: Row['expect']) => all.filter((row) => row.expect === kind)

test('the corpora are there', () => {
  expect(files).toEqual(expect.arrayContaining(['own.jsonl', 'blind-hostile.jsonl', 'blind-everyday.jsonl']))
  expect(of('deny').length).toBeGreaterThan(300)
})

test('nothing destructive, and nothing that must be asked about, runs unasked', () => {
  expect([...of('deny'), ...of('ask')].filter(({ read }) => read.verdict === 'safe').map(({ command }) => command)).toEqual([])
})

test('of what is destructive at least 97 in 100 are labelled', () => {
  const labelled = of('deny').filter(({ read }) => read.destructive !== undefined)
  console.log(`labelled: ${labelled.length} of ${of('deny').length}`)
  expect(labelled.length / of('deny').length).toBeGreaterThanOrEqual(0.97)
})

test('nothing harmless is labelled, and of what is asked about at most 3 in 100', () => {
  expect(
    of('safe')
      .filter(({ read }) => read.destructive !== undefined)
      .map(({ command }) => command),
  ).toEqual([])
  expect(of('ask').filter(({ read }) => read.destructive !== undefined).length / of('ask').length).toBeLessThanOrEqual(0.03)
})
