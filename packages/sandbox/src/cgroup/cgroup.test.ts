import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS } from '../limits.ts'
import { owner } from '../processes.ts'
import { temporary, until } from '../run.fixture.ts'
import { createGroup, openCgroup, parentOfSecond, removeGroup } from './cgroup.ts'
import type { Confinement } from './watch.ts'

const MB = 1024 * 1024
const opened = await openCgroup({ ...DEFAULT_SANDBOX_LIMITS, memory: 64 * MB, processes: 20 })
/** Must work wherever a cgroup can be written, which includes CI. */
const isHere = opened !== undefined || process.env['CI'] !== undefined
const foldersOf = (label: string) => globSync(`/sys/fs/cgroup/**/mulligan-${label}-*`)

describe.skipIf(!isHere)('a cgroup of our own', () => {
  const confinement = opened as Confinement
  const start = async (script: string) => {
    const cell = await confinement.cell()
    onTestFinished(cell.dispose)
    const [program = '', ...args] = cell.wrap(['/bin/bash', '-c', script])
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    return { cell, pid: child.pid as number, exit: once(child, 'exit'), close: once(child, 'close').then(() => out), output: () => out }
  }

  test('holds what is started in it, under the same process id', async () => {
    const { close, pid } = await start('echo $$; cat /proc/self/cgroup')
    const [first, ...lines] = (await close).split('\n')
    expect(Number(first)).toBe(pid)
    expect(lines.join('\n')).toContain(`mulligan-${owner()}-`)
    expect(readFileSync('/proc/self/cgroup', 'utf8')).not.toContain('mulligan-')
  })

  test('says that memory was the reason, and only then', async () => {
    const hog = await start('node -e "const all = []; for (;;) all.push(Buffer.alloc(4e6, 1))"')
    await hog.exit
    expect(await hog.cell.limitHit()).toBe('memory')
    await hog.cell.dispose()
    expect(await hog.cell.limitHit()).toBe('memory')
    const modest = await start('exit 3')
    await modest.exit
    expect(await modest.cell.limitHit()).toBeUndefined()
  })

  test('kills all that is in it, also what left its session, group and parent', async () => {
    const { cell, output } = await start(
      'for i in 1 2 3; do (setsid bash -c "trap \\"\\" TERM; sleep 1000; true" &); done; echo up; sleep 1000',
    )
    await until(() => output() === 'up\n')
    await cell.kill()
    const left = foldersOf(owner()).flatMap((folder) =>
      readFileSync(join(folder, 'cgroup.procs'), 'utf8').trim().split('\n').filter(Boolean),
    )
    expect(left).toEqual([])
  })

  test('stops a fork bomb, and kills it', async () => {
    const { cell, close, exit } = await start('bomb() { bomb | bomb & }; bomb; wait; sleep 1000')
    await until(async () =>
      foldersOf(owner()).some((folder) => folder.includes('pids') && Number(readFileSync(join(folder, 'pids.current'), 'utf8')) >= 15),
    )
    await cell.kill()
    await exit
    await close
  })

  test('leaves no folder', async () => {
    const { cell, exit } = await start('sleep 1000 & sleep 1000')
    expect(foldersOf(owner()).length).toBeGreaterThan(0)
    await Promise.all([cell.dispose(), cell.dispose()])
    await exit
    expect(foldersOf(owner())).toEqual([])
  })

  test('removing it kills what came in after the others were killed', async () => {
    const { exit, output } = await start('echo in; sleep 1000')
    await until(() => output() === 'in\n')
    const folders = foldersOf(owner())
    await removeGroup(folders.map((folder) => ({ version: 1, folder, controllers: [] })))
    expect(foldersOf(owner())).toEqual([])
    const [, signal] = await exit
    expect(signal).toBe('SIGKILL')
  })

  test('the next start takes away what a dead process left, with all that runs in it', async () => {
    const [pid, begun, namespace] = owner().split('-')
    const dead = `${pid}-${Number(begun) + 1}-${namespace}`
    await start('sleep 0')
    const parents = [...new Set(foldersOf(owner()).map(dirname))]
    const stale = parents.map((parent) => join(parent, `mulligan-${dead}-0`))
    for (const folder of stale) mkdirSync(folder)
    const left = spawn('sleep', ['1000'])
    const killed = once(left, 'exit')
    writeFileSync(join(stale[0] as string, 'cgroup.procs'), String(left.pid))
    await openCgroup(DEFAULT_SANDBOX_LIMITS)
    await killed
    expect(foldersOf(dead)).toEqual([])
    expect(foldersOf(owner()).length).toBeGreaterThan(0)
  })

  test.runIf(process.getuid?.() === 0)('does not exist for who may not write one', async () => {
    const script = `import { openConfinement } from '${join(import.meta.dirname, 'confinement.ts')}'
import { DEFAULT_SANDBOX_LIMITS } from '${join(import.meta.dirname, '../limits.ts')}'
const { by, enforces } = await openConfinement(DEFAULT_SANDBOX_LIMITS, {})
console.log(JSON.stringify({ by, hold: enforces.memory.hold }))`
    const args = ['--reuid=1234', '--regid=1234', '--clear-groups', process.execPath, '--input-type=module', '-e', script]
    const { stdout } = await promisify(execFile)('setpriv', args)
    expect(JSON.parse(stdout)).toEqual({ by: 'watch', hold: 'partial' })
  })
})

/** Tests v2 files on machines whose controllers are all in v1: checks what is written, not its effect. */
describe('version 2', () => {
  const tree = (handed: Readonly<Record<string, string>>) => {
    const mount = temporary()
    for (const [folder, controllers] of Object.entries(handed)) {
      mkdirSync(join(mount, folder), { recursive: true })
      writeFileSync(join(mount, folder, 'cgroup.subtree_control'), controllers)
      writeFileSync(join(mount, folder, 'cgroup.procs'), '')
    }
    return mount
  }

  test('the nearest cgroup that hands memory down is the parent', async () => {
    const mount = tree({ 'user.slice/session.scope': '', 'user.slice': 'memory pids', 'user.slice/session.scope/deeper': 'pids' })
    expect(await parentOfSecond({ mount, folder: join(mount, 'user.slice/session.scope/deeper') })).toEqual({
      ...{ version: 2, folder: join(mount, 'user.slice'), controllers: ['memory', 'pids'] },
    })
    expect(await parentOfSecond({ mount, folder: join(mount, 'nowhere') })).toBeUndefined()
  })

  test('memory, swap, processes and cores are limited', async () => {
    const mount = temporary()
    const parent = { version: 2, folder: mount, controllers: ['memory', 'pids', 'cpu'] } as const
    // The kernel creates these files with the folder; here they are created in advance.
    const files = ['memory.max', 'memory.swap.max', 'pids.max', 'cpu.max']
    await createGroup([parent], 'one', { ...DEFAULT_SANDBOX_LIMITS, cpus: 0.5 }, async (folder) => {
      mkdirSync(folder)
      for (const file of files) writeFileSync(join(folder, file), '')
    })
    expect(files.map((file) => readFileSync(join(mount, 'one', file), 'utf8'))).toEqual([String(2048 * MB), '0', '256', '50000 100000'])
  })
})
