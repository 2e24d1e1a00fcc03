import { MODES, modePolicy } from '@mulligan/core/executor'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandPolicy, commandTargets, createCommandPolicy, shellPolicy } from './command-policy.ts'
import { everySplice, random, randomScript, SIMPLE } from './fuzz.fixture.ts'
import { openRange, type Range } from './range.fixture.ts'

/** Number of scripts. For a longer search: `FUZZ_SCRIPTS=100000 FUZZ_SEED=2 npx vitest run …/fuzz.test.ts`. */
const SCRIPTS = Number(process.env['FUZZ_SCRIPTS'] ?? 2000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
let range: Range
let commandPolicy: CommandPolicy
beforeAll(async () => {
  range = await openRange()
  commandPolicy = createCommandPolicy({ workspace: range.workspace, home: '/home/ann' })
})
afterAll(() => range[Symbol.dispose]())

/** True if any mode runs the command without approval, apart from the one that allows writes anyway. */
function isUnasked(command: string): boolean {
  const read = commandPolicy(command)
  const effect = read.verdict === 'safe' ? 'read' : 'write'
  return MODES.filter((mode) => mode !== 'auto').some((mode) => {
    const policy = shellPolicy(
      modePolicy(mode, () => false),
      { workspace: range.workspace, commandPolicy },
    )
    return commandTargets(read, command).every(
      (target) => policy({ tool: 'bash', effect, input: { command }, target }).decision === 'allow',
    )
  })
}

const scripts = (count: number, seed: number, { canaries }: Range = range): string[] => {
  const next = random(seed)
  return Array.from({ length: count }, () => randomScript(next, canaries))
}

test('none of many scripts with a payload that is not asked about has an effect', async () => {
  const unasked = scripts(SCRIPTS, SEED).filter(isUnasked)
  // Some mutations still result in a listed command.
  expect(unasked.length).toBeGreaterThan(0)
  const harmful = []
  for (const script of new Set(unasked)) if ((await range.effects(script)).length > 0) harmful.push(script)
  if (process.env['FUZZ_SCRIPTS'])
    console.log(
      `${SCRIPTS} scripts, ${unasked.length} not asked about (${new Set(unasked).size} different), ${harmful.length} with an effect`,
    )
  expect(harmful).toEqual([])
}, 600_000)

test('control: without the guard such scripts change files and open connections', async () => {
  // In a separate range, so that processes left running here are not mistaken for the effects of another test.
  using unguarded = await openRange()
  const found: string[] = []
  for (const script of scripts(80, SEED, unguarded).filter((one) => !isUnasked(one))) found.push(...(await unguarded.effects(script)))
  expect(found.filter((one) => one === 'files').length).toBeGreaterThan(20)
  expect(found).toContain('connection')
}, 120_000)

test('no piece of a payload at any place of a listed command makes it do anything', async () => {
  const unasked = new Set([...everySplice(range.canaries)].filter(isUnasked))
  const harmful = []
  const sample = [...unasked].filter((_, at) => at % Math.ceil(unasked.size / 50) === 0)
  for (const script of sample) if ((await range.effects(script)).length > 0) harmful.push(script)
  expect(harmful).toEqual([])
}, 120_000)

test('the listed commands themselves are not asked about, and have no effect', async () => {
  expect(SIMPLE.filter((script) => !isUnasked(script))).toEqual([])
  for (const script of SIMPLE) expect([script, await range.effects(script)]).toEqual([script, []])
}, 60_000)

test('the same seed makes the same scripts', () => expect(scripts(50, 7)).toEqual(scripts(50, 7)))
