/** Checks that hundreds of runs, ended in every way, leave nothing behind. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommandError, type Completed } from '../../index.ts'
import { createSandbox } from '../../sandbox.ts'
import { describeEngines } from './container.fixture.ts'
import { type Engine, OWNER_LABEL, SANDBOX_LABEL } from './engine.ts'

const RUNS = 500
/** Run concurrently, so that some end while others start. */
const AT_ONCE = 8
/** One in this many is ended from outside or leaves something behind, so its container is replaced. */
const ONE_IN = 5

/** Uses a fixed sequence so that failures can be reproduced. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

const processes = (word: string): number =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(word)).length

async function containers({ api }: Engine): Promise<readonly string[]> {
  const found = await api.listContainers({ all: true, filters: { label: [SANDBOX_LABEL] } })
  return found.filter(({ Labels }) => Labels[OWNER_LABEL]?.startsWith(`${process.pid}-`)).map(({ Id }) => Id)
}

describeEngines('hundreds of runs', (fixture, backend) => {
  test('leave no process and no container', { timeout: 600_000 }, async () => {
    const mark = `${3600 + Math.floor(Math.random() * 1e6)}.${process.pid}`
    const next = random(7)
    const workspace = join(fixture.workspace, 'project')
    mkdirSync(workspace)
    const sandbox = await createSandbox({ workspace, backend, image: 'mulligan-test:local' })
    const harmless = ['true', 'exit 3', 'echo out; echo err >&2', '(sleep 0.01 &) ; true']
    const harmful = [
      `sleep ${mark}`,
      `trap '' TERM; sleep ${mark}`,
      `(setsid sleep ${mark} >/dev/null 2>&1 &)`,
      `sleep ${mark} & sleep ${mark} & wait`,
      'yes',
    ]
    const pick = (scripts: readonly string[]): string => scripts[Math.floor(next() * scripts.length)] ?? ''
    const completed = (command: Parameters<typeof sandbox.run>[0]): Promise<Completed> =>
      sandbox.run(command).catch((error: unknown) => {
        if (error instanceof CommandError) return error.completed
        throw error
      })
    const one = async (run: number): Promise<Completed> => {
      if (run % ONE_IN !== 0) return completed({ script: pick(harmless) })
      const script = pick(harmful)
      const milliseconds = 1 + next() * 60
      if (next() < 0.5) return completed({ script, timeout: milliseconds / 1000 })
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), milliseconds)
      return completed({ script, signal: controller.signal, timeout: 5 }).finally(() => clearTimeout(timer))
    }
    const reasons = new Set<string>()
    let runs = 0
    const lane = async () => {
      for (let run = runs++; run < RUNS; run = runs++) reasons.add((await one(run)).reason)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    expect([...reasons]).toEqual(expect.arrayContaining(['exit', 'timeout', 'aborted']))
    expect(processes(mark)).toBe(0)
    // Control: containers waiting for the next command are visible.
    const waiting = await containers(fixture.engine())
    expect(waiting.length).toBeGreaterThan(0)
    await sandbox.close()
    expect(await containers(fixture.engine())).toEqual([])
    for (const id of waiting) expect(processes(id)).toBe(0)
  })
})
