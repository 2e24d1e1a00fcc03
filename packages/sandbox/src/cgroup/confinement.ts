/** Picks the strongest confinement available, and the cores a command may run on. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Limits } from '../limits.ts'
import { owner } from '../processes.ts'
import { runProgram, systemProgram } from '../program.ts'
import { findPlaces, oomKillsIn, openCgroup } from './cgroup.ts'
import { type Cell, type Confinement, openWatch, watchCell } from './watch.ts'

type HostEnv = Readonly<Record<string, string | undefined>>

/** Tests it for real. Never fails: limits that can't be enforced are reported in `enforces`. */
export const openConfinement = async (limits: Limits, hostEnv: HostEnv = process.env): Promise<Confinement> =>
  (await openCgroup(limits)) ?? (await openSystemd(limits, hostEnv)) ?? openWatch(limits.memory)

/** In milliseconds; an unresponsive service manager must not hold up the start. */
const PROBE_TIMEOUT = 5_000
/** The interval in milliseconds between checks of the scope's events. The scope disappears as soon as it is empty. */
const INTERVAL = 100
/** Variables needed to reach the service manager; they are hidden from the command. */
const BUS = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'] as const
let made = 0

/**
 * An ordinary user on a machine with systemd may not write cgroups, but may ask the user's own service manager for a scope: a
 * cgroup with limits that `systemd-run` enters before it becomes the command. Returns undefined if there is no such manager or it
 * may not limit memory.
 */
async function openSystemd(limits: Limits, hostEnv: HostEnv): Promise<Confinement | undefined> {
  const bus = BUS.flatMap((name) => (hostEnv[name] === undefined ? [] : [`${name}=${hostEnv[name]}`]))
  const program = systemProgram('systemd-run')
  if (process.platform !== 'linux' || bus.length === 0 || program === undefined) return undefined
  const wrap = (argv: readonly string[]) => scope(limits, program, bus, `mulligan-${owner()}-${made++}`, argv)
  if (!(await works(wrap, limits))) return undefined
  const held = (by: string) => ({ hold: 'hard', by: `systemd scope, ${by}` }) as const
  return {
    by: 'systemd-run',
    enforces: { memory: held('MemoryMax'), processes: held('TasksMax'), cpu: held('CPUQuota') },
    cell: async () => scopeCell(wrap, limits),
    close: async () => {},
  }
}

export function scope(
  { memory, processes, cpus }: Limits,
  program: string,
  bus: readonly string[],
  name: string,
  argv: readonly string[],
): readonly string[] {
  const quota = Math.max(1, Math.round(cpus * 100))
  const properties = [`MemoryMax=${memory}`, 'MemorySwapMax=0', `TasksMax=${processes}`, `CPUQuota=${quota}%`].flatMap((one) => ['-p', one])
  const run = [program, '--user', '--scope', '--quiet', '--collect', `--unit=${name}`, ...properties, '--']
  return ['/usr/bin/env', ...bus, ...run, '/usr/bin/env', ...BUS.flatMap((variable) => ['-u', variable]), ...argv]
}

/** Checks that the limit shows up in the cgroup: a manager without the controller accepts the property and does nothing. */
async function works(wrap: Cell['wrap'], { memory }: Limits): Promise<boolean> {
  const [program = '', ...args] = wrap(['/bin/sh', '-c', 'cat "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/memory.max"'])
  const { stdout } = await runProgram(program, args, { timeout: PROBE_TIMEOUT }).catch(() => ({ stdout: '' }))
  // Limits are rounded down to whole pages.
  return memory - Number(stdout) < 65_536 && stdout.trim() !== ''
}

/** Creates a cell limited by its scope. Watching the processes as well makes it possible to tell afterwards that the limit was hit. */
function scopeCell(wrap: Cell['wrap'], { memory }: Limits): Cell {
  const watched = watchCell(memory)
  let timer: NodeJS.Timeout | undefined
  let wasKilled = false
  const read = (file: string) => readFile(file, 'utf8').catch(() => '')
  const look = async (pid: number) => {
    const places = findPlaces(await read(`/proc/${pid}/cgroup`), await read('/proc/self/mountinfo'))
    const folder = places.find(({ controller }) => controller === 'memory')?.folder
    if (folder?.includes('mulligan-')) wasKilled ||= oomKillsIn(await read(`${folder}/memory.events`)) > 0
  }
  return {
    wrap,
    watch: (pid) => {
      watched.watch(pid)
      timer = setInterval(() => void look(pid), INTERVAL)
    },
    limitHit: async () => (wasKilled ? 'memory' : watched.limitHit()),
    kill: watched.kill,
    dispose: async () => {
      clearInterval(timer)
      await watched.dispose()
    },
  }
}

/** Spreads concurrent commands so that they don't share a core while others are idle. */
let next = 0

/**
 * Returns the prefix that limits a command to as many cores as its quota allows. Programs start one thread per core, but count the
 * cores they may run on, not the quota: `nproc`, `make -j` and test runners all do this. A command can undo this; the quota still
 * holds.
 *
 * @returns empty if no core needs to be taken away
 */
export function onCores(cpus: number): readonly string[] {
  const taskset = process.platform === 'linux' ? systemProgram('taskset') : undefined
  if (taskset === undefined) return []
  const cores = takeCores(allowedCores(readFileSync('/proc/self/status', 'latin1')), cpus)
  return cores.length === 0 ? [] : [taskset, '--cpu-list', cores.join(',')]
}

/** Picks cores in rotation. @returns empty if the quota covers all of them */
export function takeCores(all: readonly number[], cpus: number): readonly number[] {
  const count = Math.max(1, Math.ceil(cpus))
  if (count >= all.length) return []
  const first = next++
  return Array.from({ length: count }, (_, at) => all[(first + at) % all.length] as number)
}

/** Parses `Cpus_allowed_list:	0-3,8` from `/proc/PID/status`. */
function allowedCores(status: string): readonly number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? ''
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number)
    return Number.isInteger(first) ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : []
  })
}
