/** Commands of the day, run on layers: nothing is asked before, and nothing at all about those that change nothing. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { BACKEND } from '../shell.fixture.ts'
import { CHANGING, PROJECT, QUIET } from './everyday.fixture.ts'
import { openLayeredRange, WAYS, type Way } from './range.fixture.ts'

const [ASK] = WAYS as readonly [Way]
const folder = fileURLToPath(new URL('../command-policy/corpus/', import.meta.url))
const corpus = readdirSync(folder)
  .flatMap((file) =>
    readFileSync(`${folder}${file}`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => ({ file, ...JSON.parse(line) })),
  )
  .map((row) => row as { readonly file: string; readonly command: string; readonly expect: 'safe' | 'ask' | 'deny' })
const harmless = corpus.filter((row) => row.file === 'blind-everyday.jsonl' && row.expect === 'safe').map(({ command }) => command)

describe.skipIf(BACKEND !== 'bubblewrap')('in the default sandbox', () => {
  test('none of the harmless and everyday commands asks, and none changes anything', async () => {
    expect([harmless.length, QUIET.length >= 100]).toEqual([219, true])
    await using range = await openLayeredRange(ASK, PROJECT)
    const wrong: object[] = []
    for (const command of [...harmless, ...QUIET]) {
      const { end, held, effects } = await range.run(command)
      if (end === 'asked' || held !== undefined || effects.length > 0) wrong.push({ command, end, held, effects })
    }
    expect(wrong).toEqual([])
  }, 300_000)

  test('control: those that change files are asked about, afterwards', async () => {
    await using range = await openLayeredRange(ASK, PROJECT)
    for (const command of CHANGING) {
      const { end, held, effects } = await range.run(command)
      expect([command, end, held === undefined, effects]).toEqual([command, 'ran', false, []])
    }
  }, 120_000)
})
