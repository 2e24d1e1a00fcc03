import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { until } from '../run.fixture.ts'
import { scope } from './confinement.ts'
import { openWatch } from './watch.ts'

const MB = 1024 * 1024

describe.runIf(process.platform !== 'win32')('a watch over memory', () => {
  const start = async (memory: number, script: string) => {
    const cell = await openWatch(memory).cell()
    const [program = '', ...args] = cell.wrap(['bash', '-c', script])
    const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    cell.watch(child.pid as number)
    return { cell, child, exit: once(child, 'exit') }
  }
  const hog = (bytes: number) => `node -e 'globalThis.kept = Buffer.alloc(${bytes}, 1); console.log("up"); setTimeout(() => {}, 1e6)'`

  test('ends who has too much', async () => {
    const { cell, exit } = await start(128 * MB, `${hog(300 * MB)}; true`)
    const [, signal] = await exit
    expect(signal).toBe('SIGKILL')
    expect(await cell.limitHit()).toBe('memory')
    await cell.dispose()
  })

  test('counts all of them together', async () => {
    const { cell, exit } = await start(400 * MB, `${hog(150 * MB)} & ${hog(150 * MB)} & ${hog(150 * MB)} & wait`)
    await exit
    expect(await cell.limitHit()).toBe('memory')
    await cell.dispose()
  })

  test('leaves who stays below, until it is disposed of', async () => {
    const { cell, child, exit } = await start(800 * MB, hog(150 * MB))
    await once(child.stdout, 'data')
    let looks = 0
    await until(() => looks++ > 20)
    expect(child.exitCode).toBeNull()
    expect(await cell.limitHit()).toBeUndefined()
    await cell.dispose()
    await exit
  })
})

test('what systemd-run is asked for: the limits, and a command that does not see the bus', () => {
  const limits = { memory: 64 * MB, cpus: 0.5, processes: 20, timeout: 1, output: 1, outputStop: 1, disk: 1 }
  expect(scope(limits, '/usr/bin/systemd-run', ['XDG_RUNTIME_DIR=/run/user/1000'], 'mulligan-1-2-3-4', ['echo', 'a b'])).toEqual([
    ...['/usr/bin/env', 'XDG_RUNTIME_DIR=/run/user/1000', '/usr/bin/systemd-run', '--user', '--scope', '--quiet', '--collect'],
    ...['--unit=mulligan-1-2-3-4', '-p', 'MemoryMax=67108864', '-p', 'MemorySwapMax=0', '-p', 'TasksMax=20', '-p', 'CPUQuota=50%', '--'],
    ...['/usr/bin/env', '-u', 'XDG_RUNTIME_DIR', '-u', 'DBUS_SESSION_BUS_ADDRESS', 'echo', 'a b'],
  ])
})
