/** Checks that nothing is left of hundreds of runs ended in every way, or of a process that was killed itself. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { samples } from '../../../scripts/test-scope.fixture.ts'
import { completed, open, temporary, until } from './run.fixture.ts'

const hasBubblewrap = process.env['CI'] !== undefined || spawnSync('bwrap', ['--version']).status === 0
const BACKENDS = hasBubblewrap ? (['none', 'bubblewrap'] as const) : (['none'] as const)
const RUNS = samples(100, 500)
const KILLS = samples(8, 32) * 2
/** Run concurrently, so that some end while others start. */
const AT_ONCE = 10

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return []
      }
    })

/** Everything that a process's sandboxes create and that remains if it is not cleaned up. */
const left = (pid: number, mark: string) => ({
  processes: commandLines().filter((line) => line.split('\0').includes(mark)).length,
  cgroups: globSync(`/sys/fs/cgroup/**/mulligan-${pid}-*`).length,
  folders: readdirSync(tmpdir()).filter((name) => name.startsWith(`mulligan-sandbox-${pid}-`)).length,
  mounts: readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`mulligan-sandbox-${pid}-`)).length,
})
const NOTHING = { processes: 0, cgroups: 0, folders: 0, mounts: 0 }

/** A number of seconds that no other process sleeps. */
const marks = () => `${3600 + Math.floor(Math.random() * 1e6)}.${process.pid}`

/** Uses a fixed sequence so that failures can be reproduced. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

describe.runIf(process.platform === 'linux').each(BACKENDS)('%s', (backend) => {
  test(`${RUNS} runs with random ends`, { timeout: 600_000 }, async () => {
    const mark = marks()
    const next = random(7)
    const sandbox = await open({ backend, limits: { outputStop: 10_000_000 } })
    const quick = ['true', 'exit 3', 'yes', `(setsid sleep ${mark} >/dev/null 2>&1 &)`, `sleep ${mark} & echo done`]
    const long = [`sleep ${mark}`, `trap '' TERM; sleep ${mark} & sleep ${mark} & wait`, `(setsid setsid sleep ${mark} &); sleep ${mark}`]
    const oneOf = (scripts: readonly string[]) => ({ script: scripts[Math.floor(next() * scripts.length)] as string })
    const one = async () => {
      const chance = next()
      const milliseconds = next() * 120
      if (chance < 0.2) return completed(sandbox, oneOf(quick))
      if (chance < 0.6) return completed(sandbox, { ...oneOf([...quick, ...long]), timeout: 0.001 + milliseconds / 1000 })
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), milliseconds)
      return completed(sandbox, { ...oneOf([...quick, ...long]), signal: controller.signal }).finally(() => clearTimeout(timer))
    }
    const reasons = new Set<string>()
    let runs = 0
    const lane = async () => {
      while (runs++ < RUNS) reasons.add((await one()).reason)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    expect([...reasons]).toEqual(expect.arrayContaining(['exit', 'timeout', 'aborted', 'output']))
    expect(left(process.pid, mark)).toMatchObject({ processes: 0, mounts: 0 })
    await sandbox.close()
    expect(left(process.pid, mark)).toEqual(NOTHING)
  })

  test(`${KILLS} parents that are killed leave a folder without .git as it was`, { timeout: 300_000 }, async () => {
    const workspace = temporary()
    writeFileSync(join(workspace, 'file'), '')
    const worker = join(import.meta.dirname, 'leftovers.worker.fixture.ts')
    const next = random(11)
    let kills = 0
    let opened = 0
    const lane = async () => {
      while (kills < KILLS) {
        const isOpen = kills++ % 2 === 0
        const parent = spawn(process.execPath, [worker, backend, workspace, 'echo; sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
        const exit = once(parent, 'exit')
        // Half of the processes are killed while a command is running, the others at any moment during the start.
        if (isOpen) {
          await once(parent.stdout, 'data')
          opened++
        } else await sleep(next() * 400)
        parent.kill('SIGKILL')
        await exit
        expect(readdirSync(workspace)).toEqual(['file'])
      }
    }
    await Promise.all([lane(), lane(), lane()])
    expect([kills, opened]).toEqual([KILLS, KILLS / 2])
    await (await open({ backend })).close()
  })

  test('a parent that is killed', { timeout: 120_000 }, async () => {
    const mark = marks()
    const workspace = temporary()
    const scripts = [`echo; sleep ${mark}`, `(setsid setsid sleep ${mark} &); echo; sleep ${mark}`, `trap '' TERM HUP; echo; sleep ${mark}`]
    const worker = join(import.meta.dirname, 'leftovers.worker.fixture.ts')
    const parent = spawn(process.execPath, [worker, backend, workspace, ...scripts], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const pid = parent.pid as number
    const exit = once(parent, 'exit')
    await once(parent.stdout, 'data')
    // Control: everything that could be left behind exists.
    await until(() => left(pid, mark).processes >= 4)
    expect(left(pid, mark).folders).toBe(1)
    if (process.getuid?.() === 0) expect(left(pid, mark).cgroups).toBeGreaterThan(0)
    parent.kill('SIGKILL')
    await exit
    if (backend === 'bubblewrap') await until(() => left(pid, mark).processes === 0)
    await (await open({ backend })).close()
    await until(() => left(pid, mark).processes === 0)
    expect(left(pid, mark)).toEqual(NOTHING)
  })
})
