/** Everyday commands on layers: nothing needs approval beforehand, and nothing at all if the command changes nothing. */
import { readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createExecutor, MODES, modePolicy } from '@mulligan/core/executor'
import { describe, expect, test } from 'vitest'
import { isAll } from '../../../../../scripts/test-scope.fixture.ts'
import { shellPolicy } from '../command-policy/command-policy.ts'
import { readCommand } from '../command-policy/read-command.ts'
import { BACKEND, shell } from '../shell.fixture.ts'
import { CHANGING, PROJECT, QUIET } from './everyday.fixture.ts'
import { openLayeredRange, WAYS, type Way } from './range.fixture.ts'

const [ASK] = WAYS as readonly [Way]
/** `DESTRUCTIVE=all` runs every destructive command in each way, not just in one of them. */
const IS_LONG = process.env['DESTRUCTIVE'] === 'all'
/** `npm test` runs one command in six. */
const STRIDE = isAll || IS_LONG ? 1 : 6
const DIFFERENT = ['ask, before the decision', 'auto that keeps', 'ask, the workspace read-only']
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
    for (const command of [...harmless, ...QUIET].filter((_, at) => at % STRIDE === 0)) {
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

  /** Without an overlay, commands that look destructive need approval; with one, or with nothing to write to, they have no effect. */
  test.each(
    WAYS.filter(({ name }) => DIFFERENT.includes(name)),
  )('none of the destructive commands has an effect unasked: $name', async (way) => {
    const destructive = corpus.filter((row) => row.expect === 'deny').map(({ command }) => command)
    expect(destructive.length).toBe(374)
    await using range = await openLayeredRange(way, PROJECT, { memory: 512 * 2 ** 20 })
    const mine = destructive.filter((_, at) => IS_LONG || at % (DIFFERENT.length * STRIDE) === DIFFERENT.indexOf(way.name))
    const wrong: object[] = []
    for (const command of mine) {
      const { end, kept, effects } = await range.run(command, 1)
      // A command missing from the list of destructive commands is kept and undone like any other.
      const isLabelled =
        readCommand(command, { home: range.home, workspace: range.workspace, cwd: range.workspace }).destructive !== undefined
      if (kept && isLabelled) wrong.push({ command, kept })
      if (effects.length > 0 || (end === 'asked' && way.overlays)) wrong.push({ command, end, effects })
    }
    expect(wrong).toEqual([])
  }, 600_000)

  test('without walls, and where they say that they write the real files, all of them ask first in every mode that asks', async () => {
    const unasked: string[] = []
    for (const [backend, writes] of [
      ['none', undefined],
      ['bubblewrap', 'direct'],
    ] as const) {
      const { tools, root } = shell({}, { layers: true, sandboxOptions: { backend } })
      for (const mode of MODES) {
        const policy = shellPolicy(modePolicy(mode), { workspace: root })
        for (const { command, expect: kind } of corpus) {
          if (
            kind !== 'deny' ||
            (mode === 'auto' && readCommand(command, { home: homedir(), workspace: root, cwd: root }).destructive === undefined)
          )
            continue
          const executor = createExecutor({ tools, policy })
          const input = { command, ...(writes && { writes }) }
          const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input })
          if (prepared.kind === 'ready') unasked.push(`${backend} ${mode}: ${command}`)
        }
      }
    }
    expect(unasked).toEqual([])
  }, 120_000)

  test('control: with the layer off some of them change the workspace', async () => {
    await using range = await openLayeredRange(ASK, PROJECT)
    const changed: string[] = []
    const commands = [
      'rm -rf .',
      'rm -rf "$PWD"',
      'find . -mindepth 1 -delete',
      'sed -i s/a/b/ .git/config',
      "echo 'rm -rf /' > x.sh; bash x.sh",
    ]
    for (const command of commands) {
      expect(corpus.some((row) => row.expect === 'deny' && row.command === command)).toBe(true)
      if ((await range.runDirect(command)).includes('workspace')) changed.push(command)
    }
    expect(changed.length).toBeGreaterThan(2)
  }, 120_000)
})
