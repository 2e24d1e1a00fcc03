import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { judgeCommand } from './judge.ts'
import type { Verdict } from './types.ts'

interface Row {
  readonly command: string
  readonly expect: Verdict
}

const folder = fileURLToPath(new URL('./corpus/', import.meta.url))
const rowsOf = (file: string): Row[] =>
  readFileSync(`${folder}${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
const place = { home: '/home/user', workspace: '/home/user/project' }
const judged = (rows: readonly Row[]) => rows.map((row) => ({ ...row, verdict: judgeCommand(row.command, place).verdict }))

const files = readdirSync(folder)
const all = judged(files.flatMap(rowsOf))

test('the corpora are there', () => {
  expect(files).toEqual(expect.arrayContaining(['own.jsonl', 'blind-hostile.jsonl', 'blind-everyday.jsonl']))
  expect(all.filter((row) => row.expect === 'deny').length).toBeGreaterThan(300)
})

describe('every corpus', () => {
  test('nothing destructive comes out as less than a denial', () => {
    expect(all.filter((row) => row.expect === 'deny' && row.verdict !== 'deny')).toEqual([])
  })

  test('nothing that must be asked about is safe', () => {
    expect(all.filter((row) => row.expect === 'ask' && row.verdict === 'safe')).toEqual([])
  })

  test('of what is harmless at least nine in ten are not asked about, and none is refused', () => {
    const harmless = all.filter((row) => row.expect === 'safe')
    expect(harmless.filter((row) => row.verdict === 'safe').length / harmless.length).toBeGreaterThanOrEqual(0.9)
    expect(harmless.filter((row) => row.verdict === 'deny')).toEqual([])
  })
})
